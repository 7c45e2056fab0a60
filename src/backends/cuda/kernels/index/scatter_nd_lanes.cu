// ScatterND whose updates are combined. Those of one element of the slices follow each other. An index outside the data is noted and
// its update left out.
#include "backends/cuda/kernels/index/scatter.cuh"

#ifndef CONFIGURED   // tactics/index/scatter_nd_lanes.cpp prints those of a problem
#define DEPTH 1              // dims that are indexed
#endif

// Where row k of the indices points to; -1: outside.
__device__ __forceinline__ i64 target(const Arguments& a, i64 k) {
  i64 at[8], from = 0, to = 0;
  places<RANK1 - 1>(a.in[1], k, at);
  #pragma unroll
  for (int d = 0; d < RANK1 - 1; ++d) from += at[d] * a.in[1].s[d];
  bool there = true;
  #pragma unroll
  for (int d = 0; d < DEPTH; ++d) {
    i64 place = (i64)((const T1*)a.in[1].p)[from + d * a.in[1].s[RANK1 - 1]];
    there = inside(a, place, a.in[0].d[d]) && there;
    to = to * a.in[0].d[d] + place;
  }
  return there ? to : -1;
}
// Element i of slice k of the updates, and its place in the result.
__device__ __forceinline__ T0 update(const Arguments& a, i64 k, i64 i, i64 slice) {
  return ((const T0*)a.in[2].p)[linear<RANK2>(a.in[2], k * slice + i)];
}
__device__ __forceinline__ i64 rows(const Arguments& a) {
  i64 count = 1;
  #pragma unroll
  for (int d = 0; d < RANK1 - 1; ++d) count *= a.in[1].d[d];
  return count;
}
__device__ __forceinline__ i64 slice_of(const Arguments& a) {
  i64 count = 1;
  #pragma unroll
  for (int d = DEPTH; d < RANK0; ++d) count *= a.in[0].d[d];
  return count;
}
RULE(lane) {
  const i64 slice = slice_of(a), count = rows(a);
  for (i64 k = 0; k < count; ++k) {
    const i64 to = target(a, k);
    if (to < 0) continue;
    T0* y = (T0*)a.out[0].p + linear<RANK0>(a.out[0], to * slice + i);
    *y = combined(*y, update(a, k, i, slice));
  }
}
RULE(owner) {
  const i64 slice = slice_of(a), count = rows(a);
  T0 y = ((const T0*)a.in[0].p)[linear<RANK0>(a.in[0], i)];
  for (i64 k = 0; k < count; ++k)
    if (target(a, k) == i / slice) y = combined(y, update(a, k, i % slice, slice));
  ((TY0*)a.out[0].p)[linear<RANK0>(a.out[0], i)] = y;
}
