#include "dsp.h"

// Column 0, row 5: filter, dsp::activate, transform, activation.
extern "C" void stage_0_5(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<8, 6u>(in, a);
  dsp::activate<8, 6u>(a, b);
  dsp::matmul<4, 6u>(b, a);
  dsp::activate<11, 12u>(a, out);
}
