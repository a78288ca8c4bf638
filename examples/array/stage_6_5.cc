#include "dsp.h"

// Column 6, row 5: filter, dsp::ranked, transform, activation.
extern "C" void stage_6_5(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<9, 246u>(in, a);
  dsp::ranked<7, 246u>(a, b);
  dsp::matmul<4, 246u>(b, a);
  dsp::activate<11, 198u>(a, out);
}
