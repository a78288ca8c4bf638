#include "dsp.h"

// Column 6, row 2: dsp::fir, and the residue it leaves behind.
extern "C" void stage_6_2(const int32_t *__restrict in, int32_t *__restrict out) {
  int32_t first[dsp::kBlock];
  dsp::fir<24, 243u>(in, first);
  dsp::horner<6, 195u>(first, out);
}
