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
