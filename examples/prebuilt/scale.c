#include <stdint.h>

/* Static data that ends up inside the prebuilt image: placement has to keep off it. */
static int32_t calls[128];
static const int32_t gains[32] = {1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597};

void scale(const int32_t *restrict in, int32_t *restrict out) {
  for (int i = 0; i < 256; ++i) {
    out[i] = in[i] * gains[i & 31];
    calls[i & 127] += 1;
  }
}
