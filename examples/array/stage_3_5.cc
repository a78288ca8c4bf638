#include "dsp.h"

// Column 3, row 5: filter, dsp::activate, transform, activation.
extern "C" void stage_3_5(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<11, 126u>(in, a);
  dsp::activate<8, 126u>(a, b);
  dsp::matmul<8, 126u>(b, a);
  dsp::activate<11, 105u>(a, out);
}
