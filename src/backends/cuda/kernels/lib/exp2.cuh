// Softmax in powers of two: one multiplication less for each score.
#pragma once
#include "backends/cuda/kernels/lib/types.cuh"

constexpr float kLog2 = 1.4426950408889634f;   // of e
__device__ __forceinline__ float exp2_approx(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
// 1 / (1 + 2^-x), off by 2^-22 or so of 1; both instructions take infinities to what they should be.
__device__ __forceinline__ float sigmoid_log2(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(1.f + exp2_approx(-x)));
  return y;
}
// A mask in powers of two. What is finite stays so: a row that the lowest float masks whole is an even mean of all values.
__device__ __forceinline__ float mask_log2(float m) { return m > -INFINITY_F ? fmaxf(m * kLog2, -3e38f) : m; }
