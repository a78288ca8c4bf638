#include "dsp.h"

// Column 1, row 4: filter, dsp::hadamard, transform, activation.
extern "C" void stage_1_4(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<8, 45u>(in, a);
  dsp::hadamard<4, 45u>(a, b);
  dsp::matmul<4, 45u>(b, a);
  dsp::activate<11, 42u>(a, out);
}
