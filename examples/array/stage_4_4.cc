#include "dsp.h"

// Column 4, row 4: filter, dsp::matmul, transform, activation.
extern "C" void stage_4_4(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<11, 165u>(in, a);
  dsp::matmul<4, 165u>(a, b);
  dsp::matmul<8, 165u>(b, a);
  dsp::activate<11, 135u>(a, out);
}
