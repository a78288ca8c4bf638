#include "dsp.h"

// Column 2, row 4: filter, dsp::hadamard, transform, activation.
extern "C" void stage_2_4(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<9, 85u>(in, a);
  dsp::hadamard<5, 85u>(a, b);
  dsp::matmul<8, 85u>(b, a);
  dsp::activate<11, 73u>(a, out);
}
