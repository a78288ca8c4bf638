/* What a core's code is made of when it works on TPUSH/TPOP pipes.
 *
 * The compiler turns each push, pop and free into calls of these functions, in the order the protocol says. Implement
 * them to bring pipes to other hardware; `pipes_core.c` does so for a core with memory-mapped flags and a copy engine,
 * `pipes_threads.c` for threads on this machine.
 *
 * Addresses are 64 bits wide and name every byte a core can reach:
 *
 *   0x0w00000 + offset   on-chip memories of the cluster, 1 MiB each, as this core sees them: w = 4 is its own (UB of a
 *                        Vector core, L1 of the Cube), 3 that of its northern, 1 that of its southern neighbour. The
 *                        Cube has Vector 0 in its north and Vector 1 in its south.
 *   0x0800000, ...       the Cube's other memories, 1 MiB apart: L0A, L0B, L0C, bias table, fixpipe buffer
 *   1 << 32 and up       global memory
 */
#ifndef AIECC_PIPES_H
#define AIECC_PIPES_H

#include <stdint.h>

typedef int64_t pto_address;

#define PTO_WINDOW 0x100000
#define PTO_SOUTH 1
#define PTO_NORTH 3
#define PTO_OWN 4
#define PTO_PRIVATE 8
#define PTO_PRIVATES 5
#define PTO_GLOBAL ((pto_address)1 << 32)
#define PTO_FLAGS 8

/* Sets flag `number` (0 to 7) on the wire from this core: to Vector core `lane` on the Cube, to the Cube on a Vector
 * core, whose own lane it then is. Never blocks. All that this core has read and written before is done before whoever
 * waits for the flag goes on. Setting a flag that is still set is an error of the program. */
void pto_set_flag(int32_t lane, int32_t number);

/* Waits for flag `number` on the wire to this core, and clears it. */
void pto_wait_flag(int32_t lane, int32_t number);

/* Starts to copy `rows` runs of `row_bytes` bytes, whose starts lie `*_stride` bytes apart. */
void pto_copy(pto_address to, int32_t to_stride, pto_address from, int32_t from_stride, int32_t rows,
              int32_t row_bytes);

/* Waits until all copies are complete that this core has started (the local mte flag). */
void pto_copy_done(void);

/* The tile in a slot, without a copy: from now on the core reads the slot where it lies. Returns `slot`. */
pto_address pto_alias(pto_address slot, int32_t size);

/* Argument `number` of the kernel: a global address, or a number. */
int64_t pto_argument(int32_t number);

/* For functions that compute on tiles: `rows` runs of `row_bytes` bytes from `address` on, as memory. */
void *pto_tile(pto_address address, int32_t stride, int32_t rows, int32_t row_bytes, int32_t write);

#endif
