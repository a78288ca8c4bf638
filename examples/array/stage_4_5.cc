#include "dsp.h"

// Column 4, row 5: filter, dsp::ranked, transform, activation.
extern "C" void stage_4_5(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<12, 166u>(in, a);
  dsp::ranked<5, 166u>(a, b);
  dsp::matmul<4, 166u>(b, a);
  dsp::activate<11, 136u>(a, out);
}
