#include "dsp.h"

// Column 0, row 4: filter, dsp::hadamard, transform, activation.
extern "C" void stage_0_4(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<12, 5u>(in, a);
  dsp::hadamard<3, 5u>(a, b);
  dsp::matmul<8, 5u>(b, a);
  dsp::activate<11, 11u>(a, out);
}
