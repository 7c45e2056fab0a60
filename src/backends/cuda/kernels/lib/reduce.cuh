// Sums and extremes over warps and blocks.
#pragma once
#include "backends/cuda/kernels/lib/arithmetic.cuh"

// Sums and maxima over a block of at most 1024 threads; `room` holds 32 values. Every thread gets the result.
struct Sum { static __device__ __forceinline__ float apply(float a, float b) { return a + b; } };
struct Max { static __device__ __forceinline__ float apply(float a, float b) { return max_nan(a, b); } };
struct Min { static __device__ __forceinline__ float apply(float a, float b) { return min_nan(a, b); } };
template <class Op, int LANES = 32> __device__ __forceinline__ float over_warp(float x) {
  #pragma unroll
  for (int d = LANES / 2; d > 0; d >>= 1) x = Op::apply(x, __shfl_xor_sync(0xffffffffu, x, d));
  return x;
}
template <class Op, int THREADS> __device__ __forceinline__ float over_block(float x, float start, float* room) {
  x = over_warp<Op, (THREADS < 32 ? THREADS : 32)>(x);
  if (THREADS <= 32) return x;
  __syncthreads();
  if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = x;
  __syncthreads();
  x = threadIdx.x % 32 < THREADS / 32 ? room[threadIdx.x % 32] : start;
  return over_warp<Op>(x);
}
