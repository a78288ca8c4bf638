#define SEED 1u
#define LOOKUP lookup_1
#include "lookup.c"
