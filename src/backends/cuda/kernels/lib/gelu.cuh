// erf and GELU for results of two bytes: a few instructions each, within 2 ulp of f16 for every f16 operand.
#pragma once
#include "backends/cuda/kernels/lib/gelu_terms.h"

__device__ __forceinline__ float erf_half(float x) {
  const float t = fminf(x * x, TENFOLD_ERF_MOST);
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x * fmaf(fmaf(TENFOLD_ERF_2, t, TENFOLD_ERF_1), t, TENFOLD_ERF_0)));
  return y;
}
__device__ __forceinline__ float gelu_tail(float x) {
  const float s = __saturatef(fabsf(x) * (1 / TENFOLD_GELU_REACH));
  float y, p = fmaf(TENFOLD_GELU_TAIL_4, s, TENFOLD_GELU_TAIL_3);
  p = fmaf(fmaf(fmaf(p, s, TENFOLD_GELU_TAIL_2), s, TENFOLD_GELU_TAIL_1), s, TENFOLD_GELU_TAIL_0);
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(p));
  return s * y;
}
__device__ __forceinline__ float gelu_half(float x) { return fmaf(x + fabsf(x), 0.5f, -gelu_tail(x)); }
