#include "dsp.h"

// Column 6, row 3: filter, dsp::horner, transform, activation.
extern "C" void stage_6_3(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<12, 244u>(in, a);
  dsp::horner<9, 244u>(a, b);
  dsp::matmul<4, 244u>(b, a);
  dsp::activate<11, 196u>(a, out);
}
