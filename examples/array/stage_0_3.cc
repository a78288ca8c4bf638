#include "dsp.h"

// Column 0, row 3: dsp::biquads, and the residue it leaves behind.
extern "C" void stage_0_3(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t first[dsp::kBlock];
  dsp::biquads<3, 4u>(in, first);
  dsp::horner<6, 10u>(first, out);
}
