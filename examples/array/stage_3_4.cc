#include "dsp.h"

// Column 3, row 4: filter, dsp::hadamard, transform, activation.
extern "C" void stage_3_4(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<10, 125u>(in, a);
  dsp::hadamard<6, 125u>(a, b);
  dsp::matmul<4, 125u>(b, a);
  dsp::activate<11, 104u>(a, out);
}
