/* Floating-point conversions that RISC-V's F and D extensions have no instructions for: 64-bit integers, half
 * precision and bfloat16. Rounding is to nearest, ties to even. */

#include <stdint.h>

#define WEAK __attribute__((weak))

static uint32_t float_bits(float x) { return __builtin_bit_cast(uint32_t, x); }
static float float_of(uint32_t x) { return __builtin_bit_cast(float, x); }

/* -- 64-bit integers ------------------------------------------------------------------------------ */

static const double TWO32 = 4294967296.0;

WEAK double __floatundidf(uint64_t x) { return (double)(uint32_t)(x >> 32) * TWO32 + (double)(uint32_t)x; }

WEAK double __floatdidf(int64_t x) {
  return (double)(int32_t)((uint64_t)x >> 32) * TWO32 + (double)(uint32_t)x;
}

/* Through double, rounding once: what is below a float's bits is gathered in one sticky bit first. */
WEAK float __floatundisf(uint64_t x) {
  uint32_t high = x >> 32;
  if (high >= 1u << 21)
    x = (x & ~(uint64_t)0x7FF) | ((x & 0x7FF) != 0) << 11;
  return (float)__floatundidf(x);
}

WEAK float __floatdisf(int64_t x) { return x < 0 ? -__floatundisf(0 - (uint64_t)x) : __floatundisf((uint64_t)x); }

WEAK uint64_t __fixunsdfdi(double x) {
  if (!(x > 0))
    return 0;
  if (x >= TWO32 * TWO32)
    return UINT64_MAX;
  uint32_t high = (uint32_t)(x / TWO32);
  return (uint64_t)high << 32 | (uint32_t)(x - (double)high * TWO32);
}

WEAK int64_t __fixdfdi(double x) {
  if (x != x)
    return 0;
  if (x >= TWO32 * 2147483648.0)
    return INT64_MAX;
  if (x <= -TWO32 * 2147483648.0)
    return INT64_MIN;
  return x < 0 ? -(int64_t)__fixunsdfdi(-x) : (int64_t)__fixunsdfdi(x);
}

WEAK uint64_t __fixunssfdi(float x) { return __fixunsdfdi((double)x); }
WEAK int64_t __fixsfdi(float x) { return __fixdfdi((double)x); }

/* -- half precision and bfloat16 ------------------------------------------------------------------- */

/* A float's bits as an IEEE half's. */
static uint16_t half_bits(uint32_t x) {
  uint32_t sign = x >> 16 & 0x8000, rest = x & 0x7FFFFFFF;
  if (rest > 0x7F800000)
    return (uint16_t)(sign | 0x7E00 | (rest >> 13 & 0x3FF));
  if (rest >= 0x477FF000) /* what would round to 65520 or more */
    return (uint16_t)(sign | 0x7C00);
  if (rest < 0x33000001) /* not more than half of the smallest subnormal */
    return (uint16_t)sign;
  uint32_t exponent = rest >> 23, mantissa = (rest & 0x7FFFFF) | 0x800000;
  /* From here on: the half's bits with `drop` more below them. */
  uint32_t drop = exponent < 113 ? 126 - exponent : 13;
  uint32_t kept = mantissa >> drop, lost = mantissa & ((1u << drop) - 1), half = 1u << (drop - 1);
  if (exponent >= 113)
    kept += (exponent - 113) << 10;
  if (lost > half || (lost == half && (kept & 1)))
    kept++;
  return (uint16_t)(sign | kept);
}

static uint32_t bits_of_half(uint16_t x) {
  uint32_t sign = (uint32_t)(x & 0x8000) << 16, exponent = x >> 10 & 31, mantissa = x & 0x3FF;
  if (exponent == 31)
    return sign | 0x7F800000 | mantissa << 13;
  if (exponent)
    return sign | (exponent + 112) << 23 | mantissa << 13;
  /* Subnormal: an integer times two to the minus 24. */
  return sign | float_bits((float)mantissa * 0x1p-24f);
}

/* Double to float, the last bit odd if anything was lost, so that rounding once more rounds rightly. */
static uint32_t to_odd(double x) {
  float near = (float)x;
  uint32_t bits = float_bits(near);
  if (near == x || near != near || (bits & 1))
    return bits;
  /* Towards x, by one step in magnitude, which makes the even last bit odd. */
  return ((double)near < x) == !(bits >> 31) ? bits + 1 : bits - 1;
}

static uint16_t brain_bits(uint32_t x) {
  if ((x & 0x7FFFFFFF) > 0x7F800000)
    return (uint16_t)(x >> 16 | 0x40);
  return (uint16_t)((x + 0x7FFF + (x >> 16 & 1)) >> 16);
}

WEAK float __extendhfsf2(_Float16 x) { return float_of(bits_of_half(__builtin_bit_cast(uint16_t, x))); }
WEAK double __extendhfdf2(_Float16 x) { return (double)__extendhfsf2(x); }
WEAK _Float16 __truncsfhf2(float x) { return __builtin_bit_cast(_Float16, half_bits(float_bits(x))); }
WEAK _Float16 __truncdfhf2(double x) { return __builtin_bit_cast(_Float16, half_bits(to_odd(x))); }
WEAK float __gnu_h2f_ieee(uint16_t x) { return float_of(bits_of_half(x)); }
WEAK uint16_t __gnu_f2h_ieee(float x) { return half_bits(float_bits(x)); }

WEAK float __extendbfsf2(__bf16 x) { return float_of((uint32_t)__builtin_bit_cast(uint16_t, x) << 16); }
WEAK __bf16 __truncsfbf2(float x) { return __builtin_bit_cast(__bf16, brain_bits(float_bits(x))); }
WEAK __bf16 __truncdfbf2(double x) { return __builtin_bit_cast(__bf16, brain_bits(to_odd(x))); }

/* -- powers with whole exponents -------------------------------------------------------------------- */

WEAK double __powidf2(double x, int n) {
  unsigned left = n < 0 ? 0 - (unsigned)n : (unsigned)n;
  double power = 1;
  for (; left; left >>= 1, x *= x)
    if (left & 1)
      power *= x;
  return n < 0 ? 1 / power : power;
}

WEAK float __powisf2(float x, int n) { return (float)__powidf2(x, n); }
