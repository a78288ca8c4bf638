/* What toolchains/llvm/memory.c has of <stdlib.h>. There is no heap. */
#ifndef AIECC_STDLIB_H
#define AIECC_STDLIB_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

int abs(int value);
__attribute__((noreturn)) void abort(void);

#ifdef __cplusplus
}
#endif
#endif
