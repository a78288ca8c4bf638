#include "dsp.h"

// Column 4, row 3: filter, dsp::horner, transform, activation.
extern "C" void stage_4_3(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<10, 164u>(in, a);
  dsp::horner<7, 164u>(a, b);
  dsp::matmul<4, 164u>(b, a);
  dsp::activate<11, 134u>(a, out);
}
