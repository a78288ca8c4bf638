#include "dsp.h"

// Column 4, row 2: filter, dsp::fir, transform, activation.
extern "C" void stage_4_2(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<9, 163u>(in, a);
  dsp::fir<20, 163u>(a, b);
  dsp::matmul<8, 163u>(b, a);
  dsp::activate<11, 133u>(a, out);
}
