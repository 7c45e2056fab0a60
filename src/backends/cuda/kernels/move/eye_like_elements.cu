// EyeLike, a thread for each element.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/move/eye_like_elements.cpp prints those of a problem
#define DIAGONAL 0ll
#endif

RULE(element) {
  i64 at[8];
  places<2>(a.out[0], i, at);
  ((TY0*)a.out[0].p)[offset<2>(a.out[0], at)] = STOREY0((CY0)(at[1] - at[0] == DIAGONAL));
}
