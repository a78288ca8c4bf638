/* The part of <math.h> that kernels and the lowering of `math` ops call. Weak: a kernel may bring its own.
 *
 * Everything is computed in double precision. The float functions are rounded from that, so they are off by at most
 * half a unit in the last place but for rare near-ties; the double ones are good to about 1e-14. Sine and
 * cosine lose digits beyond arguments of a million. errno is never set.
 */

#include <stdint.h>

#define WEAK __attribute__((weak))

static const double INF = __builtin_inf();
static const double LN2_HIGH = 0x1.62e42fee00000p-1, LN2_LOW = 0x1.a39ef35793c76p-33;
static const double LOG2E = 0x1.71547652b82fep+0, LOG10E = 0x1.bcb7b1526e50ep-2;

static double bits(uint64_t x) { return __builtin_bit_cast(double, x); }
static uint64_t of(double x) { return __builtin_bit_cast(uint64_t, x); }

WEAK double fabs(double x) { return bits(of(x) & ~(1ull << 63)); }
WEAK double copysign(double x, double y) { return bits((of(x) & ~(1ull << 63)) | (of(y) & 1ull << 63)); }
WEAK double fmin(double x, double y) { return x != x ? y : y != y ? x : x < y ? x : y; }
WEAK double fmax(double x, double y) { return x != x ? y : y != y ? x : x > y ? x : y; }
WEAK double sqrt(double x) { return __builtin_sqrt(x); }

/* -- whole numbers --------------------------------------------------------------------------------- */

/* Adding 2^52 pushes the fraction out, rounding to nearest even. */
WEAK double rint(double x) {
  double size = fabs(x);
  if (!(size < 0x1p52))
    return x;
  return copysign((size + 0x1p52) - 0x1p52, x);
}

WEAK double floor(double x) {
  double near = rint(x);
  return near > x ? near - 1 : near;
}

WEAK double ceil(double x) {
  double near = rint(x);
  return near < x ? copysign(near + 1, x) : near;
}

WEAK double trunc(double x) { return copysign(floor(fabs(x)), x); }

WEAK double round(double x) {
  double whole = trunc(x);
  return fabs(x - whole) >= 0.5 ? whole + copysign(1, x) : whole;
}

WEAK double nearbyint(double x) { return rint(x); }
WEAK double roundeven(double x) { return rint(x); }

WEAK double fmod(double x, double y) {
  double a = fabs(x), b = fabs(y);
  if (!(a < INF) || y != y || b == 0)
    return __builtin_nan("");
  if (!(b < INF) || a < b)
    return x;
  double t = b;
  while (t <= a / 2)
    t *= 2;
  /* Every difference of two numbers within a factor of two is exact. */
  for (; t >= b; t /= 2)
    if (a >= t)
      a -= t;
  return copysign(a, x);
}

/* -- powers and logarithms ------------------------------------------------------------------------- */

/* x * 2^n, in two steps so that subnormal results round once and large n do not overflow on the way. */
static double scale(double x, int n) {
  int half = n / 2;
  return x * bits((uint64_t)(half + 1023) << 52) * bits((uint64_t)(n - half + 1023) << 52);
}

static double exp_of(double x, double tail) {
  double k = rint(x * LOG2E);
  double r = (x - k * LN2_HIGH) - (k * LN2_LOW - tail);
  double sum = 1;
  for (int n = 14; n > 0; n--)
    sum = 1 + sum * r / n;
  return scale(sum, (int)k);
}

WEAK double exp(double x) {
  if (x != x)
    return x;
  if (x > 709.8)
    return INF;
  return x < -745.2 ? 0 : exp_of(x, 0);
}

WEAK double exp2(double x) {
  if (x != x)
    return x;
  if (x >= 1024)
    return INF;
  if (x < -1075)
    return 0;
  double k = rint(x);
  return scale(exp_of((x - k) * (LN2_HIGH + LN2_LOW), 0), (int)k);
}

/* log(x) as *whole * ln 2 + the result. */
static double log_parts(double x, double *whole) {
  int e = 0;
  if (x < 0x1p-1022)
    x *= 0x1p54, e = -54;
  uint64_t b = of(x);
  e += (int)(b >> 52) - 1022;
  double m = bits((b & 0xFFFFFFFFFFFFFull) | 1022ull << 52); /* 0.5 to 1 */
  if (m < 0x1.6a09e667f3bcdp-1)
    m *= 2, e--;
  double s = (m - 1) / (m + 1), s2 = s * s, sum = 0;
  for (int n = 25; n > 0; n -= 2)
    sum = sum * s2 + 1.0 / n;
  *whole = e;
  return 2 * s * sum;
}

WEAK double log(double x) {
  if (x != x || x == INF)
    return x;
  if (x <= 0)
    return x == 0 ? -INF : __builtin_nan("");
  double k, l = log_parts(x, &k);
  return k * LN2_HIGH + (l + k * LN2_LOW);
}

WEAK double log2(double x) {
  if (x != x || x <= 0 || x == INF)
    return log(x);
  double k, l = log_parts(x, &k);
  return k + l * LOG2E;
}

WEAK double log10(double x) { return log(x) * LOG10E; }

WEAK double pow(double x, double y) {
  if (x == 1 || y == 0)
    return 1;
  if (x != x || y != y)
    return __builtin_nan("");
  int whole = rint(y) == y, odd = whole && fabs(fmod(y, 2)) == 1;
  if (x < 0 && x > -INF && !whole && fabs(y) < INF)
    return __builtin_nan("");
  double size = fabs(x), result;
  if (fabs(y) == INF)
    result = size == 1 ? 1 : (size > 1) == (y > 0) ? INF : 0;
  else if (size == 0 || size == INF)
    result = (size == 0) == (y < 0) ? INF : 0;
  else {
    double k, l = log_parts(size, &k), high = k * LN2_HIGH + l, at = y * high;
    double low = y * ((k * LN2_HIGH - high) + l + k * LN2_LOW);
    result = at > 709.8 ? INF : at < -745.2 ? 0 : exp_of(at, low);
  }
  return odd ? copysign(result, x) : result;
}

WEAK double tanh(double x) {
  double size = fabs(x);
  if (size < 0.5) {
    /* sinh over cosh: the exponential would cancel. */
    double x2 = x * x, s = 1, c = 1;
    for (int n = 16; n > 0; n -= 2) {
      s = 1 + s * x2 / (n * (n + 1));
      c = 1 + c * x2 / (n * (n - 1));
    }
    return x * s / c;
  }
  if (x != x)
    return x;
  return copysign(size > 20 ? 1 : 1 - 2 / (exp(2 * size) + 1), x);
}

/* -- angles ---------------------------------------------------------------------------------------- */

static double sine(double r) {
  double r2 = r * r, sum = 1;
  for (int n = 18; n > 0; n -= 2)
    sum = 1 - sum * r2 / (n * (n + 1));
  return r * sum;
}

static double cosine(double r) {
  double r2 = r * r, sum = 1;
  for (int n = 18; n > 0; n -= 2)
    sum = 1 - sum * r2 / (n * (n - 1));
  return sum;
}

/* The angle less its quarter turns, whose number modulo four is returned. */
static int quarter(double x, double *r) {
  double k = rint(x * 0x1.45f306dc9c883p-1);
  *r = ((x - k * 0x1.921fb54400000p+0) - k * 0x1.0b4611a600000p-34) - k * 0x1.3198a2e037073p-69;
  return (int)fmod(k, 4) & 3;
}

WEAK double sin(double x) {
  if (!(fabs(x) < INF))
    return __builtin_nan("");
  if (x == 0)
    return x; /* zero keeps its sign */
  double r, s;
  int q = quarter(x, &r);
  s = q & 1 ? cosine(r) : sine(r);
  return q & 2 ? -s : s;
}

WEAK double cos(double x) {
  if (!(fabs(x) < INF))
    return __builtin_nan("");
  double r, c;
  int q = quarter(x, &r);
  c = q & 1 ? sine(r) : cosine(r);
  return (q + 1) & 2 ? -c : c;
}

WEAK double tan(double x) { return sin(x) / cos(x); }

/* -- the same in single precision ------------------------------------------------------------------ */

#define ONE(name)                                                                                                      \
  WEAK float name##f(float x) { return (float)name((double)x); }
#define TWO(name)                                                                                                      \
  WEAK float name##f(float x, float y) { return (float)name((double)x, (double)y); }

ONE(fabs) ONE(sqrt) ONE(rint) ONE(floor) ONE(ceil) ONE(trunc) ONE(round) ONE(nearbyint) ONE(roundeven)
ONE(exp) ONE(exp2) ONE(log) ONE(log2) ONE(log10) ONE(tanh) ONE(sin) ONE(cos) ONE(tan)
TWO(copysign) TWO(fmin) TWO(fmax) TWO(fmod) TWO(pow)
