#include <stdint.h>

enum { BLOCK = 256, TAPS = 16 };

/* A block filtered with TAPS coefficients (Q8), zeros before its start, and the sum of what comes out. */
void fir(const int32_t *restrict in, const int32_t *restrict taps, int32_t *restrict out, int32_t *restrict sum) {
  int32_t total = 0;
  for (int i = 0; i < BLOCK; ++i) {
    int32_t value = 0;
    for (int k = 0; k < TAPS && k <= i; ++k)
      value += taps[k] * in[i - k];
    out[i] = value >> 8;
    total += out[i];
  }
  sum[0] = total;
}
