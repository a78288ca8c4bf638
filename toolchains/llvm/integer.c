/* 64-bit integer arithmetic that 32-bit RISC-V has no instructions for: what compiler-rt would bring. */

#include <stdint.h>

#define WEAK __attribute__((weak))

/* Halves by hand: a 64-bit shift by a variable may itself become a call. */
static int top_bit(uint32_t x) {
  int n = 0;
  for (int step = 16; step; step >>= 1)
    if (x >> step) {
      x >>= step;
      n += step;
    }
  return n; /* of x != 0 */
}

/* Schoolbook division, one bit at a time; 32-bit operands take the instruction. */
static uint64_t divide(uint64_t a, uint64_t b, uint64_t *rest) {
  uint32_t ah = a >> 32, al = (uint32_t)a, bh = b >> 32, bl = (uint32_t)b;
  if (ah == 0 && bh == 0) {
    /* Division by zero as the hardware does it: all ones, and the dividend for a rest. */
    *rest = al % bl;
    return bl ? al / bl : UINT64_MAX;
  }
  uint32_t qh = 0, ql = 0, rh = 0, rl = 0;
  for (int i = ah ? 32 + top_bit(ah) : top_bit(al); i >= 0; i--) {
    rh = rh << 1 | rl >> 31;
    rl = rl << 1 | ((i >= 32 ? ah >> (i - 32) : al >> i) & 1);
    if (rh > bh || (rh == bh && rl >= bl)) {
      uint32_t borrow = rl < bl;
      rl -= bl;
      rh -= bh + borrow;
      if (i >= 32)
        qh |= 1u << (i - 32);
      else
        ql |= 1u << i;
    }
  }
  *rest = (uint64_t)rh << 32 | rl;
  return (uint64_t)qh << 32 | ql;
}

static uint64_t magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

WEAK uint64_t __udivmoddi4(uint64_t a, uint64_t b, uint64_t *rest) {
  uint64_t r, q = divide(a, b, &r);
  if (rest)
    *rest = r;
  return q;
}

WEAK uint64_t __udivdi3(uint64_t a, uint64_t b) {
  uint64_t r;
  return divide(a, b, &r);
}

WEAK uint64_t __umoddi3(uint64_t a, uint64_t b) {
  uint64_t r;
  divide(a, b, &r);
  return r;
}

WEAK int64_t __divdi3(int64_t a, int64_t b) {
  uint64_t r, q = divide(magnitude(a), magnitude(b), &r);
  return (a < 0) != (b < 0) ? (int64_t)(0 - q) : (int64_t)q;
}

WEAK int64_t __moddi3(int64_t a, int64_t b) {
  uint64_t r;
  divide(magnitude(a), magnitude(b), &r);
  return a < 0 ? (int64_t)(0 - r) : (int64_t)r;
}

WEAK int64_t __divmoddi4(int64_t a, int64_t b, int64_t *rest) {
  uint64_t r, q = divide(magnitude(a), magnitude(b), &r);
  *rest = a < 0 ? (int64_t)(0 - r) : (int64_t)r;
  return (a < 0) != (b < 0) ? (int64_t)(0 - q) : (int64_t)q;
}

WEAK int64_t __muldi3(int64_t a, int64_t b) {
  uint32_t ah = (uint64_t)a >> 32, al = (uint32_t)a, bh = (uint64_t)b >> 32, bl = (uint32_t)b;
  uint64_t low = (uint64_t)al * bl;
  uint32_t high = (uint32_t)(low >> 32) + ah * bl + al * bh;
  return (int64_t)((uint64_t)high << 32 | (uint32_t)low);
}

/* Multiplication that says whether it overflowed. */
WEAK int64_t __mulodi4(int64_t a, int64_t b, int *overflow) {
  uint64_t x = magnitude(a), y = magnitude(b), r;
  uint64_t limit = (a < 0) != (b < 0) ? (uint64_t)1 << 63 : ((uint64_t)1 << 63) - 1;
  *overflow = x != 0 && y > divide(limit, x, &r);
  return __muldi3(a, b);
}

WEAK int64_t __ashldi3(int64_t a, int n) {
  uint32_t h = (uint64_t)a >> 32, l = (uint32_t)a;
  if (n & 32)
    h = l << (n & 31), l = 0;
  else if (n)
    h = h << n | l >> (32 - n), l <<= n;
  return (int64_t)((uint64_t)h << 32 | l);
}

WEAK uint64_t __lshrdi3(uint64_t a, int n) {
  uint32_t h = a >> 32, l = (uint32_t)a;
  if (n & 32)
    l = h >> (n & 31), h = 0;
  else if (n)
    l = l >> n | h << (32 - n), h >>= n;
  return (uint64_t)h << 32 | l;
}

WEAK int64_t __ashrdi3(int64_t a, int n) {
  int32_t h = (int32_t)((uint64_t)a >> 32);
  uint32_t l = (uint32_t)a;
  if (n & 32)
    l = (uint32_t)(h >> (n & 31)), h >>= 31;
  else if (n)
    l = l >> n | (uint32_t)h << (32 - n), h >>= n;
  return (int64_t)((uint64_t)(uint32_t)h << 32 | l);
}

WEAK int __clzsi2(uint32_t x) { return x ? 31 - top_bit(x) : 32; }
WEAK int __ctzsi2(uint32_t x) { return x ? top_bit(x & (0 - x)) : 32; }
WEAK int __clzdi2(uint64_t x) {
  uint32_t h = x >> 32;
  return h ? __clzsi2(h) : 32 + __clzsi2((uint32_t)x);
}
WEAK int __ctzdi2(uint64_t x) {
  uint32_t l = (uint32_t)x;
  return l ? __ctzsi2(l) : 32 + __ctzsi2(x >> 32);
}

WEAK int __popcountsi2(uint32_t x) {
  int n = 0;
  for (; x; x &= x - 1)
    n++;
  return n;
}
WEAK int __popcountdi2(uint64_t x) { return __popcountsi2(x >> 32) + __popcountsi2((uint32_t)x); }

WEAK uint32_t __bswapsi2(uint32_t x) {
  return x << 24 | (x & 0xFF00) << 8 | (x >> 8 & 0xFF00) | x >> 24;
}
WEAK uint64_t __bswapdi2(uint64_t x) {
  return (uint64_t)__bswapsi2((uint32_t)x) << 32 | __bswapsi2(x >> 32);
}
