#include "dsp.h"

// Column 2, row 5: filter, dsp::activate, transform, activation.
extern "C" void stage_2_5(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<10, 86u>(in, a);
  dsp::activate<10, 86u>(a, b);
  dsp::matmul<4, 86u>(b, a);
  dsp::activate<11, 74u>(a, out);
}
