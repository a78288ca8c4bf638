#include "dsp.h"

// Column 3, row 2: filter, dsp::fir, transform, activation.
extern "C" void stage_3_2(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<8, 123u>(in, a);
  dsp::fir<18, 123u>(a, b);
  dsp::matmul<4, 123u>(b, a);
  dsp::activate<11, 102u>(a, out);
}
