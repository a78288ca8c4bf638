#include "dsp.h"

// Column 7, row 2: filter, dsp::fir, transform, activation.
extern "C" void stage_7_2(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<12, 283u>(in, a);
  dsp::fir<26, 283u>(a, b);
  dsp::matmul<4, 283u>(b, a);
  dsp::activate<11, 226u>(a, out);
}
