/* What compilers call unasked, and the little of <string.h> that kernels use. Weak: a kernel may bring its own. */

#include <stddef.h>
#include <stdint.h>

#define WEAK __attribute__((weak))

static int words(const void *a, const void *b) { return (((uintptr_t)a | (uintptr_t)b) & 3) == 0; }

WEAK void *memcpy(void *restrict to, const void *restrict from, size_t n) {
  unsigned char *t = to;
  const unsigned char *f = from;
  if (words(t, f))
    for (; n >= 4; n -= 4, t += 4, f += 4)
      *(uint32_t *)t = *(const uint32_t *)f;
  while (n--)
    *t++ = *f++;
  return to;
}

WEAK void *memmove(void *to, const void *from, size_t n) {
  unsigned char *t = to;
  const unsigned char *f = from;
  if (t <= f || t >= f + n) {
    for (size_t i = 0; i < n; i++)
      t[i] = f[i];
  } else {
    while (n--)
      t[n] = f[n];
  }
  return to;
}

WEAK void *memset(void *to, int value, size_t n) {
  unsigned char *t = to;
  uint32_t four = (unsigned char)value * 0x01010101u;
  if (words(t, t))
    for (; n >= 4; n -= 4, t += 4)
      *(uint32_t *)t = four;
  while (n--)
    *t++ = (unsigned char)value;
  return to;
}

WEAK int memcmp(const void *a, const void *b, size_t n) {
  const unsigned char *x = a, *y = b;
  for (; n--; x++, y++)
    if (*x != *y)
      return *x - *y;
  return 0;
}

WEAK int bcmp(const void *a, const void *b, size_t n) { return memcmp(a, b, n); }

WEAK size_t strlen(const char *s) {
  size_t n = 0;
  while (s[n])
    n++;
  return n;
}

WEAK int strcmp(const char *a, const char *b) {
  while (*a && *a == *b)
    a++, b++;
  return *(const unsigned char *)a - *(const unsigned char *)b;
}

WEAK int strncmp(const char *a, const char *b, size_t n) {
  for (; n && *a && *a == *b; n--)
    a++, b++;
  return n ? *(const unsigned char *)a - *(const unsigned char *)b : 0;
}

WEAK int abs(int value) { return value < 0 ? -value : value; }

/* There is nobody to tell: a core that gives up stands still. */
WEAK __attribute__((noreturn)) void abort(void) {
  for (;;)
    __asm__ volatile("");
}

WEAK __attribute__((noreturn)) void __assert_fail(const char *what, const char *file, int line, const char *function) {
  (void)what, (void)file, (void)line, (void)function;
  abort();
}

WEAK void __cxa_pure_virtual(void) { abort(); }
