/* Pipes on a core: flags and the copy engine are registers of the core, from 0x600000 on.
 *
 *   0x600000 + 32 * lane + 4 * number   a flag of the wire from this core: writing 1 sets it
 *   0x600100 + 32 * lane + 4 * number   a flag of the wire to this core: reads 1 when it is set; writing 0 clears it
 *   0x600200 ...                        the copy engine: to (64 bits), from (64 bits), strides, rows, bytes of a row;
 *                                       writing the last one starts it
 *   0x600240                            copies that are not complete
 *   0x601000 + 8 * number               arguments of the kernel, 64 bits
 *
 * This is the layout of the portable target; that of other hardware is other hardware's.
 */
#include "pipes.h"

#define WORD(at) (*(volatile uint32_t *)(uintptr_t)(0x600000 + (at)))

static void order(void) { __asm__ volatile("" ::: "memory"); }

void pto_set_flag(int32_t lane, int32_t number) {
  order();
  WORD(32 * lane + 4 * number) = 1;
}

void pto_wait_flag(int32_t lane, int32_t number) {
  while (WORD(0x100 + 32 * lane + 4 * number) == 0) {
  }
  WORD(0x100 + 32 * lane + 4 * number) = 0;
  order();
}

void pto_copy(pto_address to, int32_t to_stride, pto_address from, int32_t from_stride, int32_t rows,
              int32_t row_bytes) {
  order();
  WORD(0x200) = (uint32_t)to;
  WORD(0x204) = (uint32_t)(to >> 32);
  WORD(0x208) = (uint32_t)from;
  WORD(0x20c) = (uint32_t)(from >> 32);
  WORD(0x210) = (uint32_t)to_stride;
  WORD(0x214) = (uint32_t)from_stride;
  WORD(0x218) = (uint32_t)rows;
  WORD(0x21c) = (uint32_t)row_bytes;
}

void pto_copy_done(void) {
  while (WORD(0x240) != 0) {
  }
  order();
}

pto_address pto_alias(pto_address slot, int32_t size) { return (void)size, slot; }

int64_t pto_argument(int32_t number) {
  return (int64_t)((uint64_t)WORD(0x1004 + 8 * number) << 32 | WORD(0x1000 + 8 * number));
}

void *pto_tile(pto_address address, int32_t stride, int32_t rows, int32_t row_bytes, int32_t write) {
  (void)stride, (void)rows, (void)row_bytes, (void)write;
  return (void *)(uintptr_t)address;
}
