#include "dsp.h"

// Column 5, row 3: dsp::horner, and the residue it leaves behind.
extern "C" void stage_5_3(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t first[dsp::kBlock];
  dsp::horner<8, 204u>(in, first);
  dsp::horner<6, 165u>(first, out);
}
