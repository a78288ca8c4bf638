#include "dsp.h"

// Column 7, row 2: dsp::fir, and the residue it leaves behind.
extern "C" void stage_7_2(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t first[dsp::kBlock];
  dsp::fir<26, 283u>(in, first);
  dsp::horner<7, 226u>(first, out);
}
