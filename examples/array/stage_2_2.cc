#include "dsp.h"

// Column 2, row 2: filter, dsp::fir, transform, activation.
extern "C" void stage_2_2(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<12, 83u>(in, a);
  dsp::fir<16, 83u>(a, b);
  dsp::matmul<8, 83u>(b, a);
  dsp::activate<11, 71u>(a, out);
}
