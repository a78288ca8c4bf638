#include "dsp.h"

// Column 3, row 2: dsp::fir, and the residue it leaves behind.
extern "C" void stage_3_2(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t first[dsp::kBlock];
  dsp::fir<18, 123u>(in, first);
  dsp::horner<3, 102u>(first, out);
}
