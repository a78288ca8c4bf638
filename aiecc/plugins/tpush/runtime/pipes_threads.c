/* Pipes on this machine: a thread per core, C11 atomics, and a judge of every access.
 *
 * The judge keeps a vector clock per core, hands it over with every flag, and remembers for each block of 32 bytes who
 * wrote and who read it last. Two accesses of a block, one of them a write, must be ordered by flags, or it is a race:
 * whatever the threads happened to do this time. Its own memory is atomic, so it adds no races and hides none: a clock
 * is handed over by the very store and load that hand over the flag.
 */
#include "pipes_run.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK 32
#define LOCAL (PTO_WINDOW / BLOCK)
#define COPIES 8

typedef _Atomic uint32_t epoch; /* the clock of an access; 0: none yet */

struct shadow {
  epoch write[PTO_AGENTS]; /* by agent */
  epoch read[PTO_AGENTS];
};

struct flag {
  _Atomic uint32_t set;
  uint32_t clock[PTO_AGENTS]; /* the setter's, when it set it; handed over by `set` */
};

struct copy {
  pto_address to, from;
  int32_t to_stride, from_stride, rows, row_bytes;
};

struct agent {
  int id;
  pthread_t thread;
  uint32_t clock[PTO_AGENTS];
  _Atomic int32_t waits; /* -1: ended; 0: runs; else 1 + lane * PTO_FLAGS + number */
  uint8_t *private_memory;
  struct copy pending[COPIES];
  int copies;
  int64_t sets, copied, bytes;
};

struct cluster {
  const struct pto_launch *launch;
  struct pto_outcome *outcome;
  struct flag flags[2][2][PTO_FLAGS]; /* from the Cube, lane, number */
  struct agent agents[PTO_AGENTS];
  uint8_t *memory[PTO_AGENTS];
  struct shadow *shadow[PTO_AGENTS], *global_shadow;
  _Atomic int64_t sets; /* counts before the flag is set, so that two equal readings mean that none was */
  _Atomic int32_t stopped;
  pthread_mutex_t lock;
};

static struct cluster *cluster;
static _Thread_local struct agent *self;

/* --- the end ---------------------------------------------------------------------------------------------------- */

/* The first to find something says so; all cores end at their next step. */
static struct pto_outcome *stop(int end) {
  struct pto_outcome *found = NULL;
  pthread_mutex_lock(&cluster->lock);
  if (!atomic_load(&cluster->stopped)) {
    found = cluster->outcome;
    found->end = end;
    found->agent = self->id;
    atomic_store(&cluster->stopped, 1);
  }
  pthread_mutex_unlock(&cluster->lock);
  return found;
}

static void leave(void) {
  atomic_store(&self->waits, -1);
  pthread_exit(NULL);
}

static void check_stopped(void) {
  if (atomic_load_explicit(&cluster->stopped, memory_order_relaxed))
    leave();
}

/* --- memory ----------------------------------------------------------------------------------------------------- */

struct place {
  uint8_t *bytes;
  int64_t offset;
  struct shadow *shadow; /* null: nobody else can reach it */
  int owner;
};

/* Whose memory a window is: a core sees itself, the Cube its lanes, a lane the Cube. -1: nobody's. */
static int owner_of(int window) {
  if (window == PTO_OWN)
    return self->id;
  if (self->id == PTO_CUBE)
    return window == PTO_NORTH ? PTO_AIV0 : window == PTO_SOUTH ? PTO_AIV1 : -1;
  return window == (self->id == PTO_AIV0 ? PTO_SOUTH : PTO_NORTH) ? PTO_CUBE : -1;
}

static int find(pto_address at, int64_t size, struct place *place) {
  if (at >= PTO_GLOBAL) {
    place->offset = at - PTO_GLOBAL;
    place->bytes = cluster->launch->global;
    place->shadow = cluster->global_shadow;
    place->owner = -1;
    return place->offset + size <= cluster->launch->global_size;
  }
  int window = (int)(at / PTO_WINDOW);
  place->offset = at % PTO_WINDOW;
  place->shadow = NULL;
  if (at < 0 || place->offset + size > PTO_WINDOW)
    return 0;
  if (window >= PTO_PRIVATE && window < PTO_PRIVATE + PTO_PRIVATES) {
    place->bytes = self->private_memory + (int64_t)(window - PTO_PRIVATE) * PTO_WINDOW;
    place->owner = self->id;
    return 1;
  }
  place->owner = owner_of(window);
  if (place->owner < 0 || cluster->memory[place->owner] == NULL)
    return 0;
  place->bytes = cluster->memory[place->owner];
  place->shadow = cluster->shadow[place->owner];
  return 1;
}

static void race(const struct place *place, pto_address at, int64_t block, int other, int wrote, int other_wrote) {
  struct pto_outcome *found = stop(PTO_RACE);
  if (found != NULL) {
    found->other = other;
    found->wrote = wrote;
    found->other_wrote = other_wrote;
    found->owner = place->owner;
    found->address = at - place->offset + block * BLOCK;
  }
  leave();
}

static void judge(const struct place *place, pto_address at, int64_t size, int write) {
  uint32_t now = self->clock[self->id];
  for (int64_t block = place->offset / BLOCK; block <= (place->offset + size - 1) / BLOCK; block++) {
    struct shadow *shadow = &place->shadow[block];
    /* First leave a mark, then look for others': of two that meet, at least one sees the other. */
    atomic_store(write ? &shadow->write[self->id] : &shadow->read[self->id], now);
    for (int other = 0; other < PTO_AGENTS; other++) {
      if (other == self->id)
        continue;
      if (atomic_load(&shadow->write[other]) > self->clock[other])
        race(place, at, block, other, write, 1);
      if (write && atomic_load(&shadow->read[other]) > self->clock[other])
        race(place, at, block, other, 1, 0);
    }
  }
}

void *pto_tile(pto_address address, int32_t stride, int32_t rows, int32_t row_bytes, int32_t write) {
  struct place place;
  int64_t size = rows > 0 ? (int64_t)stride * (rows - 1) + row_bytes : 0;
  check_stopped();
  if (rows < 0 || row_bytes < 0 || !find(address, size, &place)) {
    struct pto_outcome *found = stop(PTO_OUTSIDE);
    if (found != NULL)
      found->address = address;
    leave();
  }
  if (place.shadow != NULL && size > 0) {
    struct place row = place;
    if (stride == row_bytes)
      judge(&row, address, size, write);
    else
      for (int32_t i = 0; i < rows; i++, row.offset += stride)
        judge(&row, address + (int64_t)i * stride, row_bytes, write);
  }
  return place.bytes + place.offset;
}

/* --- the ABI ---------------------------------------------------------------------------------------------------- */

void pto_set_flag(int32_t lane, int32_t number) {
  struct flag *flag = &cluster->flags[self->id == PTO_CUBE][lane][number];
  check_stopped();
  if (atomic_load_explicit(&flag->set, memory_order_acquire)) {
    struct pto_outcome *found = stop(PTO_DOUBLE);
    if (found != NULL) {
      found->lane = lane;
      found->number = number;
      found->from_cube = self->id == PTO_CUBE;
    }
    leave();
  }
  memcpy(flag->clock, self->clock, sizeof flag->clock);
  self->clock[self->id]++;
  self->sets++;
  atomic_fetch_add(&cluster->sets, 1);
  atomic_store_explicit(&flag->set, 1, memory_order_release);
}

/* Whether no core can ever go on: all wait for flags that are not set, and none was set while we looked. */
static int is_stuck(void) {
  int64_t before = atomic_load(&cluster->sets);
  for (int i = 0; i < PTO_AGENTS; i++) {
    int32_t waits = atomic_load(&cluster->agents[i].waits);
    if (waits == 0)
      return 0;
    if (waits > 0) {
      int lane = (waits - 1) / PTO_FLAGS, number = (waits - 1) % PTO_FLAGS;
      if (atomic_load(&cluster->flags[i != PTO_CUBE][lane][number].set))
        return 0;
    }
  }
  return atomic_load(&cluster->sets) == before;
}

static void report_stuck(void) {
  struct pto_outcome *found = stop(PTO_STUCK);
  if (found != NULL)
    for (int i = 0; i < PTO_AGENTS; i++) {
      int32_t waits = atomic_load(&cluster->agents[i].waits);
      found->waits[i] = waits > 0 ? waits - 1 : -1;
    }
}

void pto_wait_flag(int32_t lane, int32_t number) {
  struct flag *flag = &cluster->flags[self->id != PTO_CUBE][lane][number];
  for (int tries = 0; !atomic_load_explicit(&flag->set, memory_order_acquire); tries++) {
    if (tries == 0)
      atomic_store(&self->waits, 1 + lane * PTO_FLAGS + number);
    if (tries < 64) {
      sched_yield();
      continue;
    }
    if (atomic_load(&cluster->stopped))
      leave();
    if (tries % 64 == 0 && is_stuck()) {
      report_stuck();
      leave();
    }
    if (tries > 1024)
      nanosleep(&(struct timespec){0, 50000}, NULL);
    else
      sched_yield();
  }
  atomic_store(&self->waits, 0);
  check_stopped();
  for (int i = 0; i < PTO_AGENTS; i++)
    if (flag->clock[i] > self->clock[i])
      self->clock[i] = flag->clock[i];
  atomic_store_explicit(&flag->set, 0, memory_order_release);
}

/* Copies happen when they are waited for, which is as late as the engine may be. */
void pto_copy(pto_address to, int32_t to_stride, pto_address from, int32_t from_stride, int32_t rows,
              int32_t row_bytes) {
  if (self->copies == COPIES)
    pto_copy_done();
  self->pending[self->copies++] = (struct copy){to, from, to_stride, from_stride, rows, row_bytes};
}

void pto_copy_done(void) {
  for (int i = 0; i < self->copies; i++) {
    const struct copy *c = &self->pending[i];
    const uint8_t *from = pto_tile(c->from, c->from_stride, c->rows, c->row_bytes, 0);
    uint8_t *to = pto_tile(c->to, c->to_stride, c->rows, c->row_bytes, 1);
    if (c->from_stride == c->row_bytes && c->to_stride == c->row_bytes)
      memcpy(to, from, (size_t)c->rows * (size_t)c->row_bytes);
    else
      for (int32_t row = 0; row < c->rows; row++)
        memcpy(to + (int64_t)row * c->to_stride, from + (int64_t)row * c->from_stride, (size_t)c->row_bytes);
    self->copied++;
    self->bytes += (int64_t)c->rows * c->row_bytes;
  }
  self->copies = 0;
}

pto_address pto_alias(pto_address slot, int32_t size) {
  (void)size;
  return slot;
}

int64_t pto_argument(int32_t number) {
  return number >= 0 && number < cluster->launch->argument_count ? cluster->launch->arguments[number] : 0;
}

/* --- the run ---------------------------------------------------------------------------------------------------- */

static void *start(void *agent) {
  self = agent;
  cluster->launch->entry[self->id]();
  atomic_store(&self->waits, -1);
  return NULL;
}

static void set_up(struct cluster *made) {
  int64_t blocks = (made->launch->global_size + BLOCK - 1) / BLOCK;
  pthread_mutex_init(&made->lock, NULL);
  if (made->launch->judge)
    made->global_shadow = calloc((size_t)blocks + 1, sizeof(struct shadow));
  for (int i = 0; i < PTO_AGENTS; i++) {
    struct agent *agent = &made->agents[i];
    agent->id = i;
    agent->clock[i] = 1;
    atomic_init(&agent->waits, made->launch->entry[i] == NULL ? -1 : 0);
    made->memory[i] = calloc(1, PTO_WINDOW);
    agent->private_memory = calloc(PTO_PRIVATES, PTO_WINDOW);
    if (made->launch->judge)
      made->shadow[i] = calloc(LOCAL, sizeof(struct shadow));
  }
}

static void tear_down(struct cluster *made) {
  for (int i = 0; i < PTO_AGENTS; i++) {
    free(made->memory[i]);
    free(made->agents[i].private_memory);
    free(made->shadow[i]);
  }
  free(made->global_shadow);
  pthread_mutex_destroy(&made->lock);
  free(made);
}

static void read_flags(struct pto_outcome *outcome) {
  for (int from_cube = 0; from_cube < 2; from_cube++)
    for (int lane = 0; lane < 2; lane++)
      for (int number = 0; number < PTO_FLAGS; number++)
        outcome->flags[from_cube][lane][number] = (uint8_t)atomic_load(&cluster->flags[from_cube][lane][number].set);
}

void pto_run(const struct pto_launch *launch, const uint8_t (*clean)[2][PTO_FLAGS], struct pto_outcome *outcome) {
  struct cluster *made = calloc(1, sizeof *made);
  memset(outcome, 0, sizeof *outcome);
  made->launch = launch;
  made->outcome = outcome;
  set_up(made);
  cluster = made;
  for (int i = 0; i < PTO_AGENTS; i++)
    if (launch->entry[i] != NULL)
      pthread_create(&made->agents[i].thread, NULL, start, &made->agents[i]);
  for (int i = 0; i < PTO_AGENTS; i++)
    if (launch->entry[i] != NULL) {
      pthread_join(made->agents[i].thread, NULL);
      outcome->sets += made->agents[i].sets;
      outcome->copies += made->agents[i].copied;
      outcome->bytes += made->agents[i].bytes;
    }
  read_flags(outcome);
  if (outcome->end == PTO_FINISHED && clean != NULL && memcmp(outcome->flags, clean, sizeof outcome->flags) != 0)
    outcome->end = PTO_LEFT_OVER;
  cluster = NULL;
  tear_down(made);
}
