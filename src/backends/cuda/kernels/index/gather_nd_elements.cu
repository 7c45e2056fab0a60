// GatherND, a thread for each element of the result. An index outside the data gives zero and is noted.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/index/gather_nd_elements.cpp prints those of a problem
#define BATCH 0              // leading dims that data and indices share
#define DEPTH 1              // dims that are indexed
#endif

RULE(element) {
  i64 at[8];
  places<RANKY0>(a.out[0], i, at);
  i64 from = 0, row = 0;
  bool there = true;
  #pragma unroll
  for (int d = 0; d < RANK1 - 1; ++d) row += at[d] * a.in[1].s[d];
  #pragma unroll
  for (int d = 0; d < BATCH; ++d) from += at[d] * a.in[0].s[d], there = there && at[d] < a.in[0].d[d];
  #pragma unroll
  for (int k = 0; k < DEPTH; ++k) {
    i64 index = (i64)((const T1*)a.in[1].p)[row + k * a.in[1].s[RANK1 - 1]];
    there = inside(a, index, a.in[0].d[BATCH + k]) && there;
    from += index * a.in[0].s[BATCH + k];
  }
  #pragma unroll
  for (int d = BATCH + DEPTH; d < RANK0; ++d) from += at[RANK1 - 1 + d - BATCH - DEPTH] * a.in[0].s[d];
  ((TY0*)a.out[0].p)[offset<RANKY0>(a.out[0], at)] = there ? ((const T0*)a.in[0].p)[from] : (T0)0;
}
