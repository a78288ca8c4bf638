#include "dsp.h"

// Column 5, row 4: filter, dsp::matmul, transform, activation.
extern "C" void stage_5_4(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<12, 205u>(in, a);
  dsp::matmul<8, 205u>(a, b);
  dsp::matmul<4, 205u>(b, a);
  dsp::activate<11, 166u>(a, out);
}
