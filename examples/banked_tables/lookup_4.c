#define SEED 4u
#define LOOKUP lookup_4
#include "lookup.c"
