#include "dsp.h"

// Column 1, row 5: filter, dsp::activate, transform, activation.
extern "C" void stage_1_5(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<9, 46u>(in, a);
  dsp::activate<9, 46u>(a, b);
  dsp::matmul<8, 46u>(b, a);
  dsp::activate<11, 43u>(a, out);
}
