#include "dsp.h"

// Column 0, row 2: filter, dsp::fir, transform, activation.
extern "C" void stage_0_2(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<10, 3u>(in, a);
  dsp::fir<12, 3u>(a, b);
  dsp::matmul<8, 3u>(b, a);
  dsp::activate<11, 9u>(a, out);
}
