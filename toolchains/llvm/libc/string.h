/* What toolchains/llvm/memory.c has of <string.h>, for compilers that come without a C library. */
#ifndef AIECC_STRING_H
#define AIECC_STRING_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void *memcpy(void *__restrict to, const void *__restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);

#ifdef __cplusplus
}
#endif
#endif
