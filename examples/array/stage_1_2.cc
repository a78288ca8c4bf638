#include "dsp.h"

// Column 1, row 2: filter, dsp::fir, transform, activation.
extern "C" void stage_1_2(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<11, 43u>(in, a);
  dsp::fir<14, 43u>(a, b);
  dsp::matmul<4, 43u>(b, a);
  dsp::activate<11, 40u>(a, out);
}
