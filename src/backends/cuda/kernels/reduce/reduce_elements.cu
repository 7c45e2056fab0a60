// Reductions of any type: a thread for each result, or a block where much is reduced; both add up in an order that depends on the problem
// alone.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/reduce/reduce_elements.cpp prints those of a problem
#define AXES 2               // that are reduced, a bit each
#define ACC float            // what is added up in, and its ends
#define LOWEST -INFINITY_F
#define HIGHEST INFINITY_F
#define START 0
#define MAP x                // of an element x
#define JOIN r + e           // of what was found so far and another part of it
#define FINISH r
#define SHIFTED 0            // by the largest element
#define P 1                  // of GlobalLpPool
#endif

#define REDUCED(d) ((AXES >> (d) & 1) != 0)
struct Line { const T0* x; i64 count; };
__device__ __forceinline__ Line line_of(const Arguments& a, i64 i) {
  i64 at[8], from = 0, count = 1;
  places<RANKY0>(a.out[0], i, at);
  int own = 0;
  #pragma unroll
  for (int d = 0; d < RANK0; ++d) {
    if (REDUCED(d)) count *= a.in[0].d[d];
    else from += at[own] * a.in[0].s[d];
    own += RANKY0 == RANK0 || !REDUCED(d);
  }
  return {(const T0*)a.in[0].p + from, count};
}
__device__ __forceinline__ ACC element(const Arguments& a, const Line& line, i64 k) {
  i64 from = 0;
  #pragma unroll
  for (int d = RANK0 - 1; d >= 0; --d)
    if (REDUCED(d)) {
      const INDEX extent = (INDEX)a.in[0].d[d], above = (INDEX)k / extent;
      from += (i64)((INDEX)k - above * extent) * a.in[0].s[d];
      k = (i64)above;
    }
  return (ACC)LOAD0(line.x[from]);
}
__device__ __forceinline__ ACC joined(ACC r, ACC e) { return JOIN; }
__device__ __forceinline__ ACC part(const Arguments& a, const Line& line, ACC most, i64 first, i64 by) {
  ACC r = START;
  for (i64 k = first; k < line.count; k += by) {
    const ACC x = element(a, line, k);
    r = joined(r, (ACC)(MAP));
  }
  return r;
}
__device__ __forceinline__ ACC largest(const Arguments& a, const Line& line, i64 first, i64 by) {
  ACC most = LOWEST;
  for (i64 k = first; k < line.count; k += by) {
    const ACC x = element(a, line, k);
    most = x > most || x != x ? x : most;
  }
  return most;
}
__device__ __forceinline__ void finish(const Arguments& a, i64 i, ACC r, ACC most, i64 count) {
  const ACC y = FINISH;
  ((TY0*)a.out[0].p)[linear<RANKY0>(a.out[0], i)] = STOREY0((CY0)y);
}
// What infinity minus infinity would spoil is left as it is.
__device__ __forceinline__ ACC shift_of(ACC most) { return SHIFTED && most - most == (ACC)0 ? most : (ACC)0; }
extern "C" __global__ void __launch_bounds__(THREADS) kernel_block(const __grid_constant__ Arguments a) {
  enter();
  __shared__ ACC room[THREADS];
  const int t = threadIdx.x;
  const Line line = line_of(a, blockIdx.x);
  ACC most = 0;
#if SHIFTED
  room[t] = largest(a, line, t, THREADS);
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) room[t] = room[t + half] > room[t] || room[t + half] != room[t + half] ? room[t + half] : room[t];
  }
  __syncthreads();
  most = shift_of(room[0]);
  __syncthreads();
#endif
  room[t] = part(a, line, most, t, THREADS);
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) room[t] = joined(room[t], room[t + half]);
  }
  if (t == 0) finish(a, blockIdx.x, room[0], most, line.count);
}
RULE(thread) {
  const Line line = line_of(a, i);
  const ACC most = SHIFTED ? shift_of(largest(a, line, 0, 1)) : (ACC)0;
  finish(a, i, part(a, line, most, 0, 1), most, line.count);
}
