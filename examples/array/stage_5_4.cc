#include "dsp.h"

// Column 5, row 4: dsp::matmul, and the residue it leaves behind.
extern "C" void stage_5_4(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t first[dsp::kBlock];
  dsp::matmul<8, 205u>(in, first);
  dsp::horner<7, 166u>(first, out);
}
