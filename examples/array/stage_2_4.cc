#include "dsp.h"

// Column 2, row 4: dsp::hadamard, and the residue it leaves behind.
extern "C" void stage_2_4(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t first[dsp::kBlock];
  dsp::hadamard<5, 85u>(in, first);
  dsp::horner<4, 73u>(first, out);
}
