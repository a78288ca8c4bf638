#include "dsp.h"

// Column 1, row 4: dsp::hadamard, and the residue it leaves behind.
extern "C" void stage_1_4(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t first[dsp::kBlock];
  dsp::hadamard<4, 45u>(in, first);
  dsp::horner<3, 42u>(first, out);
}
