#include "dsp.h"

// Column 6, row 4: filter, dsp::sorted, transform, activation.
extern "C" void stage_6_4(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<8, 245u>(in, a);
  dsp::sorted<3, 245u>(a, b);
  dsp::matmul<8, 245u>(b, a);
  dsp::activate<11, 197u>(a, out);
}
