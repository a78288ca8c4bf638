/* What toolchains/llvm/math.c has of <math.h>. */
#ifndef AIECC_MATH_H
#define AIECC_MATH_H

#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define M_PI 3.14159265358979323846
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)

#ifdef __cplusplus
extern "C" {
#endif

#define AIECC_ONE(name) double name(double x); float name##f(float x);
#define AIECC_TWO(name) double name(double x, double y); float name##f(float x, float y);

AIECC_ONE(fabs) AIECC_ONE(sqrt) AIECC_ONE(rint) AIECC_ONE(floor) AIECC_ONE(ceil) AIECC_ONE(trunc) AIECC_ONE(round)
AIECC_ONE(nearbyint) AIECC_ONE(exp) AIECC_ONE(exp2) AIECC_ONE(log) AIECC_ONE(log2) AIECC_ONE(log10) AIECC_ONE(tanh)
AIECC_ONE(sin) AIECC_ONE(cos) AIECC_ONE(tan)
AIECC_TWO(copysign) AIECC_TWO(fmin) AIECC_TWO(fmax) AIECC_TWO(fmod) AIECC_TWO(pow)

#undef AIECC_ONE
#undef AIECC_TWO

#ifdef __cplusplus
}
#endif
#endif
