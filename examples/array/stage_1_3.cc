#include "dsp.h"

// Column 1, row 3: filter, dsp::biquads, transform, activation.
extern "C" void stage_1_3(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<12, 44u>(in, a);
  dsp::biquads<4, 44u>(a, b);
  dsp::matmul<8, 44u>(b, a);
  dsp::activate<11, 41u>(a, out);
}
