// Kernels with a thread for each element: the frame around an operator's rule of places, `RULE(name) {...}` of arguments a and element i,
// which makes the kernel `kernel_name`. A rule may use what threads_defaults.cuh lists; a.in[i] and a.out[i] come with extents and strides,
// so that views are read as they lie. Types that CUDA C has not are moved only: unsigned integers of their size.
#pragma once
#include "backends/cuda/kernels/lib/prelude.cuh"
#include "backends/cuda/kernels/lib/threads_args.h"
#include "backends/cuda/kernels/lib/threads_defaults.cuh"

using namespace tenfold::backends::cuda;
typedef ThreadsOperand Operand;
typedef ThreadsArgumentsOf<INPUTS, OUTPUTS> Arguments;

#define RULE(name)                                                                                            \
  __device__ __forceinline__ void name(const Arguments& a, i64 i);                                            \
  extern "C" __global__ void __launch_bounds__(THREADS) kernel_##name(const __grid_constant__ Arguments a) {  \
    enter();                                                                                                  \
    const i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;                                                    \
    if (i < a.count) name(a, i);                                                                              \
  }                                                                                                           \
  __device__ __forceinline__ void name(const Arguments& a, i64 i)

// Where element i of an operand stands in its extents; the element at these places.
template <int R> __device__ __forceinline__ void places(const Operand& o, i64 i, i64 (&at)[8]) {
  INDEX rest = (INDEX)i;
  #pragma unroll
  for (int d = R - 1; d >= 0; --d) {
    const INDEX extent = (INDEX)o.d[d], above = rest / extent;
    at[d] = (i64)(rest - above * extent);
    rest = above;
  }
}
template <int R> __device__ __forceinline__ i64 offset(const Operand& o, const i64 (&at)[8]) {
  i64 to = 0;
  #pragma unroll
  for (int d = 0; d < R; ++d) to += at[d] * o.s[d];
  return to;
}
template <int R> __device__ __forceinline__ i64 linear(const Operand& o, i64 i) {
  i64 at[8];
  places<R>(o, i, at);
  return offset<R>(o, at);
}
// A negative index counts from the end; what lies outside is noted, and then false.
__device__ __forceinline__ bool inside(const Arguments& a, i64& index, i64 extent) {
  if (index < 0) index += extent;
  if (index >= 0 && index < extent) return true;
  *a.bad_index = 1;
  return false;
}

// The operand of an epilogue at the result's places, to which it is broadcast from the right.
template <int R> __device__ __forceinline__ i64 broadcast(const Operand& o, const i64 (&at)[8]) {
  i64 to = 0;
  #pragma unroll
  for (int d = 0; d < R; ++d) to += o.d[d] == 1 ? 0 : at[d + RANKY0 - R] * o.s[d];
  return to;
}
// Stores r, or what the epilogue makes of it, at these places of the first result.
template <class R> __device__ __forceinline__ void finish(const Arguments& a, const i64 (&at)[8], R r) { EPILOGUE }
