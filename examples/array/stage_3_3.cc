#include "dsp.h"

// Column 3, row 3: filter, dsp::biquads, transform, activation.
extern "C" void stage_3_3(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<9, 124u>(in, a);
  dsp::biquads<6, 124u>(a, b);
  dsp::matmul<8, 124u>(b, a);
  dsp::activate<11, 103u>(a, out);
}
