#include "dsp.h"

// Column 6, row 2: filter, dsp::fir, transform, activation.
extern "C" void stage_6_2(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<11, 243u>(in, a);
  dsp::fir<24, 243u>(a, b);
  dsp::matmul<8, 243u>(b, a);
  dsp::activate<11, 195u>(a, out);
}
