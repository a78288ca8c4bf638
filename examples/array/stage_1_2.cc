#include "dsp.h"

// Column 1, row 2: dsp::fir, and the residue it leaves behind.
extern "C" void stage_1_2(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t first[dsp::kBlock];
  dsp::fir<14, 43u>(in, first);
  dsp::horner<6, 40u>(first, out);
}
