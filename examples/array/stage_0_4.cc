#include "dsp.h"

// Column 0, row 4: dsp::hadamard, and the residue it leaves behind.
extern "C" void stage_0_4(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t first[dsp::kBlock];
  dsp::hadamard<3, 5u>(in, first);
  dsp::horner<7, 11u>(first, out);
}
