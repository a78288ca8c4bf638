#include "dsp.h"

// Column 2, row 3: dsp::biquads, and the residue it leaves behind.
extern "C" void stage_2_3(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t first[dsp::kBlock];
  dsp::biquads<5, 84u>(in, first);
  dsp::horner<3, 72u>(first, out);
}
