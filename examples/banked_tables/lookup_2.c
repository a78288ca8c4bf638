#define SEED 2u
#define LOOKUP lookup_2
#include "lookup.c"
