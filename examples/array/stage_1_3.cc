#include "dsp.h"

// Column 1, row 3: dsp::biquads, and the residue it leaves behind.
extern "C" void stage_1_3(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t first[dsp::kBlock];
  dsp::biquads<4, 44u>(in, first);
  dsp::horner<7, 41u>(first, out);
}
