/* Many kernels include <stdio.h>; none can print. */
#ifndef AIECC_STDIO_H
#define AIECC_STDIO_H

#include <stdarg.h>
#include <stddef.h>

#endif
