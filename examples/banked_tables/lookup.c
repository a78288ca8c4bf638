#include <stdint.h>

#include "aie_bank_placement.h"

/* Two tables that are read in the same cycle belong in different banks. Each core compiles this file
   with its own seed, so the four cores hold four pairs of tables. */
#ifndef SEED
#error "SEED chooses the contents of the tables"
#endif

#define T1(i) ((SEED * 2654435761u) ^ ((i) * 40503u))
#define T4(i) T1(i), T1((i) + 1), T1((i) + 2), T1((i) + 3)
#define T16(i) T4(i), T4((i) + 4), T4((i) + 8), T4((i) + 12)
#define T64(i) T16(i), T16((i) + 16), T16((i) + 32), T16((i) + 48)
#define T256(i) T64(i), T64((i) + 64), T64((i) + 128), T64((i) + 192)

_Alignas(64) static const uint32_t slope[512] AIE_BANK_A = {T256(0), T256(256)};
_Alignas(64) static const uint32_t offset[1024] AIE_BANK_B = {T256(0), T256(256), T256(512), T256(768)};

void LOOKUP(const uint32_t *restrict in, uint32_t *restrict out) {
  for (int i = 0; i < 512; ++i) {
    uint32_t x = in[i];
    out[i] = slope[x & 511] * (x >> 16) + offset[x & 1023];
  }
}
