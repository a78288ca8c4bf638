#include "dsp.h"

// Column 5, row 5: filter, dsp::ranked, transform, activation.
extern "C" void stage_5_5(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<8, 206u>(in, a);
  dsp::ranked<6, 206u>(a, b);
  dsp::matmul<8, 206u>(b, a);
  dsp::activate<11, 167u>(a, out);
}
