#include "dsp.h"

// Column 5, row 2: filter, dsp::fir, transform, activation.
extern "C" void stage_5_2(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<10, 203u>(in, a);
  dsp::fir<22, 203u>(a, b);
  dsp::matmul<4, 203u>(b, a);
  dsp::activate<11, 164u>(a, out);
}
