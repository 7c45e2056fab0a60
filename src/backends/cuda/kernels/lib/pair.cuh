// Two neighboring results of 16 bits in a register. BF16 is 1 for bf16, 0 for f16.
#pragma once
#include "backends/cuda/kernels/lib/convert.cuh"

__device__ __forceinline__ u32 pair(float low, float high) {
#if __CUDA_ARCH__ >= 800
  u32 both;
#if BF16
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
#else
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
#endif
  return both;
#else
  return (u32)to_f16(low) | (u32)to_f16(high) << 16;
#endif
}

// a * b + c of both, rounded once. Of bf16 from sm_80 on.
__device__ __forceinline__ u32 multiply_add_pairs(u32 a, u32 b, u32 c) {
  u32 both;
#if BF16
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(both) : "r"(a), "r"(b), "r"(c));
#else
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(both) : "r"(a), "r"(b), "r"(c));
#endif
  return both;
}

// Bits of `a` that `mask` has, and those of `with`: one instruction, where a compiler that sees two constants takes two.
__device__ __forceinline__ u32 masked_with(u32 a, u32 mask, u32 with) {
  u32 y;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(y) : "r"(a), "r"(mask), "r"(with));
  return y;
}

// A thread of four has two columns of each of four pieces of eight; afterwards eight columns of one.
__device__ __forceinline__ void transpose_pairs(u32 (&v)[4], int lane) {
  #pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const u32 other = __shfl_xor_sync(~0u, lane & 1 ? v[i] : v[i + 1], 1);
    if (lane & 1) v[i] = other; else v[i + 1] = other;
  }
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    const u32 other = __shfl_xor_sync(~0u, lane & 2 ? v[i] : v[i + 2], 2);
    if (lane & 2) v[i] = other; else v[i + 2] = other;
  }
}
