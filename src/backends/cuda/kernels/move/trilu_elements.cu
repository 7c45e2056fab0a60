// Trilu, a thread for each element; the diagonal is read.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/move/trilu_elements.cpp prints those of a problem
#define UPPER 1
#endif

RULE(element) {
  i64 at[8];
  places<RANK0>(a.in[0], i, at);
  i64 diagonal = 0;
#if GIVEN1
  diagonal = (i64)*(const T1*)a.in[1].p;
#endif
  const i64 distance = at[RANK0 - 1] - at[RANK0 - 2];
  const bool kept = UPPER ? distance >= diagonal : distance <= diagonal;
  ((TY0*)a.out[0].p)[offset<RANK0>(a.out[0], at)] = kept ? ((const T0*)a.in[0].p)[offset<RANK0>(a.in[0], at)] : (T0)0;
}
