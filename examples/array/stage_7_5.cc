#include "dsp.h"

// Column 7, row 5: filter, dsp::ranked, transform, activation.
extern "C" void stage_7_5(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<10, 286u>(in, a);
  dsp::ranked<8, 286u>(a, b);
  dsp::matmul<8, 286u>(b, a);
  dsp::activate<11, 229u>(a, out);
}
