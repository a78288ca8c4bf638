#include "dsp.h"

// Column 0, row 2: dsp::fir, and the residue it leaves behind.
extern "C" void stage_0_2(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t first[dsp::kBlock];
  dsp::fir<12, 3u>(in, first);
  dsp::horner<5, 9u>(first, out);
}
