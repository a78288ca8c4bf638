#include <stdint.h>

enum { BLOCK = 256 };

void scale(const int32_t *restrict in, const int32_t *restrict factor, int32_t *restrict out) {
  for (int i = 0; i < BLOCK; ++i)
    out[i] = factor[0] * in[i];
}
