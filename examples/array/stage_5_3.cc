#include "dsp.h"

// Column 5, row 3: filter, dsp::horner, transform, activation.
extern "C" void stage_5_3(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<11, 204u>(in, a);
  dsp::horner<8, 204u>(a, b);
  dsp::matmul<8, 204u>(b, a);
  dsp::activate<11, 165u>(a, out);
}
