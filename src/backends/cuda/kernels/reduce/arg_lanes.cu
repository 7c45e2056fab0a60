// ArgMax and ArgMin along any axis: a thread for each result, or a block. Elements are ordered by value and then by place, so that it does
// not matter in which order they are met.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/reduce/arg_lanes.cpp prints those of a problem
#define AXIS 1
#define LARGEST true
#define LAST false           // of equals
#endif

// NaN is chosen before all numbers, as numpy does; of equals the first, or the last.
__device__ __forceinline__ bool is_better(C0 x, i64 at, C0 y, i64 than) {
  const bool earlier = LAST ? at > than : at < than, no_x = x != x, no_y = y != y;
  if (no_x || no_y) return no_x && (!no_y || earlier);
  return x == y ? earlier : LARGEST ? y < x : x < y;
}
__device__ __forceinline__ const T0* line_of(const Arguments& a, i64 i) {
  i64 at[8], from = 0;
  places<RANKY0>(a.out[0], i, at);
  #pragma unroll
  for (int d = 0; d < RANK0; ++d)
    if (d != AXIS) from += at[RANKY0 == RANK0 || d < AXIS ? d : d - 1] * a.in[0].s[d];
  return (const T0*)a.in[0].p + from;
}
__device__ __forceinline__ void walk(const T0* x, i64 step, i64 extent, i64 first, i64 by, C0& best, i64& place) {
  best = LOAD0(x[first * step]), place = first;
  for (i64 k = first + by; k < extent; k += by) {
    const C0 e = LOAD0(x[k * step]);
    if (is_better(e, k, best, place)) best = e, place = k;
  }
}
extern "C" __global__ void __launch_bounds__(THREADS) kernel_block(const __grid_constant__ Arguments a) {
  enter();
  __shared__ C0 values[THREADS];
  __shared__ i64 at[THREADS];
  const int t = threadIdx.x;
  C0 best;
  i64 place;
  walk(line_of(a, blockIdx.x), a.in[0].s[AXIS], a.in[0].d[AXIS], t, THREADS, best, place);
  values[t] = best, at[t] = place;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half && is_better(values[t + half], at[t + half], values[t], at[t])) values[t] = values[t + half], at[t] = at[t + half];
  }
  if (t == 0) ((TY0*)a.out[0].p)[linear<RANKY0>(a.out[0], blockIdx.x)] = at[0];
}
RULE(thread) {
  C0 best;
  i64 place;
  walk(line_of(a, i), a.in[0].s[AXIS], a.in[0].d[AXIS], 0, 1, best, place);
  ((TY0*)a.out[0].p)[linear<RANKY0>(a.out[0], i)] = place;
}
