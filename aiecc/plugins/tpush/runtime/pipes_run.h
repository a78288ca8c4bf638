/* Running a cluster on this machine. The three functions are the cores' code, made by the compiler. */
#ifndef AIECC_PIPES_RUN_H
#define AIECC_PIPES_RUN_H

#include "pipes.h"

enum { PTO_CUBE, PTO_AIV0, PTO_AIV1, PTO_AGENTS };

/* How a run ended. Everything but PTO_FINISHED stops all cores. */
enum pto_end {
  PTO_FINISHED,
  PTO_STUCK,     /* every core waits for a flag that nobody will set */
  PTO_RACE,      /* two accesses of one place, at least one of them a write, that no flag puts in order */
  PTO_DOUBLE,    /* a flag was set that was still set */
  PTO_OUTSIDE,   /* an access outside of all memories */
  PTO_LEFT_OVER, /* all cores have ended, but not with the flags as initialisation leaves them */
};

typedef void (*pto_entry)(void);

struct pto_launch {
  pto_entry entry[PTO_AGENTS]; /* null: that core does not run */
  uint8_t *global;             /* global memory; PTO_GLOBAL is its first byte */
  int64_t global_size;
  const int64_t *arguments;
  int32_t argument_count;
  int32_t judge; /* whether accesses are judged; a run of millions of tiles may do without */
};

struct pto_outcome {
  int32_t end;
  int32_t agent, other;           /* who, and against whom */
  int32_t wrote, other_wrote;     /* whether the accesses of a race were writes */
  pto_address address;            /* where, as `agent` names it */
  int32_t owner;                  /* whose memory that is; -1: global */
  int32_t lane, number, from_cube; /* the flag of PTO_DOUBLE, and whose wire it is */
  int32_t waits[PTO_AGENTS];      /* PTO_STUCK: -1: the core has ended; else lane * PTO_FLAGS + number */
  int64_t sets, copies, bytes;    /* how much was done */
  uint8_t flags[2][2][PTO_FLAGS]; /* which flags are set in the end, by [from_cube][lane][number] */
};

/* `clean`: what `flags` must be in the end; null: anything. */
void pto_run(const struct pto_launch *launch, const uint8_t (*clean)[2][PTO_FLAGS], struct pto_outcome *outcome);

#endif
