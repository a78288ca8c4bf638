#include "dsp.h"

// Column 7, row 4: filter, dsp::sorted, transform, activation.
extern "C" void stage_7_4(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<9, 285u>(in, a);
  dsp::sorted<4, 285u>(a, b);
  dsp::matmul<4, 285u>(b, a);
  dsp::activate<11, 228u>(a, out);
}
