#include "dsp.h"

// Column 2, row 3: filter, dsp::biquads, transform, activation.
extern "C" void stage_2_3(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<8, 84u>(in, a);
  dsp::biquads<5, 84u>(a, b);
  dsp::matmul<4, 84u>(b, a);
  dsp::activate<11, 72u>(a, out);
}
