#include "dsp.h"

// Column 5, row 2: dsp::fir, and the residue it leaves behind.
extern "C" void stage_5_2(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t first[dsp::kBlock];
  dsp::fir<22, 203u>(in, first);
  dsp::horner<5, 164u>(first, out);
}
