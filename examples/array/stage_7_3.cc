#include "dsp.h"

// Column 7, row 3: filter, dsp::horner, transform, activation.
extern "C" void stage_7_3(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<8, 284u>(in, a);
  dsp::horner<10, 284u>(a, b);
  dsp::matmul<8, 284u>(b, a);
  dsp::activate<11, 227u>(a, out);
}
