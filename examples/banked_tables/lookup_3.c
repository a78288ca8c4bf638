#define SEED 3u
#define LOOKUP lookup_3
#include "lookup.c"
