/* Ops on tiles. A tile is an address and the distance of its rows in bytes; rows and columns count elements. */
#include "pipes.h"

#define READ(type, at, stride, rows, cols) ((const char *)pto_tile(at, stride, rows, (cols) * (int32_t)sizeof(type), 0))
#define WRITE(type, at, stride, rows, cols) ((char *)pto_tile(at, stride, rows, (cols) * (int32_t)sizeof(type), 1))
#define AT(type, base, stride, row, col) (((type *)(base + (intptr_t)(row) * (stride)))[col])

#define BINARY(name, type, value)                                                                                    \
  void pto_##name(pto_address to, int32_t to_stride, pto_address a, int32_t a_stride, pto_address b,                  \
                  int32_t b_stride, int32_t rows, int32_t cols) {                                                     \
    const char *pa = READ(type, a, a_stride, rows, cols), *pb = READ(type, b, b_stride, rows, cols);                  \
    char *pt = WRITE(type, to, to_stride, rows, cols);                                                                \
    for (int32_t i = 0; i < rows; i++)                                                                                \
      for (int32_t j = 0; j < cols; j++) {                                                                            \
        type x = AT(const type, pa, a_stride, i, j), y = AT(const type, pb, b_stride, i, j);                          \
        AT(type, pt, to_stride, i, j) = (value);                                                                      \
      }                                                                                                               \
  }

#define SCALAR(name, type, value)                                                                                     \
  void pto_##name(pto_address to, int32_t to_stride, pto_address a, int32_t a_stride, type y, int32_t rows,           \
                  int32_t cols) {                                                                                     \
    const char *pa = READ(type, a, a_stride, rows, cols);                                                             \
    char *pt = WRITE(type, to, to_stride, rows, cols);                                                                \
    for (int32_t i = 0; i < rows; i++)                                                                                \
      for (int32_t j = 0; j < cols; j++) {                                                                            \
        type x = AT(const type, pa, a_stride, i, j);                                                                  \
        AT(type, pt, to_stride, i, j) = (value);                                                                      \
      }                                                                                                               \
  }

#define UNARY(name, type, value)                                                                                      \
  void pto_##name(pto_address to, int32_t to_stride, pto_address a, int32_t a_stride, int32_t rows, int32_t cols) {   \
    const char *pa = READ(type, a, a_stride, rows, cols);                                                             \
    char *pt = WRITE(type, to, to_stride, rows, cols);                                                                \
    for (int32_t i = 0; i < rows; i++)                                                                                \
      for (int32_t j = 0; j < cols; j++) {                                                                            \
        type x = AT(const type, pa, a_stride, i, j);                                                                  \
        AT(type, pt, to_stride, i, j) = (value);                                                                      \
      }                                                                                                               \
  }

/* `sum`: what is added to; integers wrap around. */
#define MATMUL(name, type, sum)                                                                                       \
  void pto_##name(pto_address to, int32_t to_stride, pto_address a, int32_t a_stride, pto_address b,                  \
                  int32_t b_stride, int32_t m, int32_t n, int32_t k, int32_t accumulate) {                            \
    const char *pa = READ(type, a, a_stride, m, k), *pb = READ(type, b, b_stride, k, n);                              \
    char *pt = WRITE(type, to, to_stride, m, n);                                                                      \
    for (int32_t i = 0; i < m; i++)                                                                                   \
      for (int32_t j = 0; j < n; j++) {                                                                               \
        sum total = accumulate ? (sum)AT(type, pt, to_stride, i, j) : (sum)0;                                         \
        for (int32_t l = 0; l < k; l++)                                                                               \
          total += (sum)AT(const type, pa, a_stride, i, l) * (sum)AT(const type, pb, b_stride, l, j);                 \
        AT(type, pt, to_stride, i, j) = (type)total;                                                                  \
      }                                                                                                               \
  }

#define ALL(suffix, type, unsigned_type)                                                                              \
  BINARY(tadd_##suffix, type, (type)((unsigned_type)x + (unsigned_type)y))                                            \
  BINARY(tsub_##suffix, type, (type)((unsigned_type)x - (unsigned_type)y))                                            \
  BINARY(tmul_##suffix, type, (type)((unsigned_type)x * (unsigned_type)y))                                            \
  BINARY(tmax_##suffix, type, x > y ? x : y)                                                                          \
  BINARY(tmin_##suffix, type, x < y ? x : y)                                                                          \
  SCALAR(tadds_##suffix, type, (type)((unsigned_type)x + (unsigned_type)y))                                           \
  SCALAR(tsubs_##suffix, type, (type)((unsigned_type)x - (unsigned_type)y))                                           \
  SCALAR(tmuls_##suffix, type, (type)((unsigned_type)x * (unsigned_type)y))                                           \
  SCALAR(tmaxs_##suffix, type, x > y ? x : y)                                                                         \
  SCALAR(tmins_##suffix, type, x < y ? x : y)                                                                         \
  UNARY(tmov_##suffix, type, x)                                                                                       \
  UNARY(trelu_##suffix, type, x > 0 ? x : 0)                                                                          \
  UNARY(tneg_##suffix, type, (type)(0 - (unsigned_type)x))                                                            \
  UNARY(tabs_##suffix, type, x < 0 ? (type)(0 - (unsigned_type)x) : x)                                                \
  MATMUL(tmatmul_##suffix, type, unsigned_type)

ALL(f32, float, float)
ALL(i32, int32_t, uint32_t)
BINARY(tdiv_f32, float, x / y)
SCALAR(tdivs_f32, float, x / y)
