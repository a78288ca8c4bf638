#include "dsp.h"

// Column 0, row 3: filter, dsp::biquads, transform, activation.
extern "C" void stage_0_3(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<11, 4u>(in, a);
  dsp::biquads<3, 4u>(a, b);
  dsp::matmul<4, 4u>(b, a);
  dsp::activate<11, 10u>(a, out);
}
