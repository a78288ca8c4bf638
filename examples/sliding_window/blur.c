#include <stdint.h>

enum { WIDTH = 256 };

/* One row of a vertical 1-2-1 filter. */
void blur(const uint8_t *restrict above, const uint8_t *restrict here, const uint8_t *restrict below,
          uint8_t *restrict out) {
  for (int i = 0; i < WIDTH; ++i)
    out[i] = (uint8_t)((above[i] + 2 * here[i] + below[i] + 2) >> 2);
}
