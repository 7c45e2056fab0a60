// Two neighboring results as they lie in memory, and eight of them, of 16 or of 8 bits.
#pragma once
#include "backends/cuda/kernels/lib/pair.cuh"

#if STORED == 0
__device__ __forceinline__ u32 pair_of(float low, float high) { return pair(low, high); }
__device__ __forceinline__ void put_eight(u16* y, const u32 (&v)[4]) { *(uint4*)y = make_uint4(v[0], v[1], v[2], v[3]); }
#else
__device__ __forceinline__ u16 pair_of(float low, float high) {
#if STORED == 1
  u16 y;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(y) : "f"(epilogue(high)), "f"(epilogue(low)));
  return y;
#else
  return (u16)((u8)epilogue(low) | (u16)(u8)epilogue(high) << 8);
#endif
}
__device__ __forceinline__ void put_eight(RESULT* y, const u32 (&v)[4]) {
  *(uint2*)y = make_uint2(v[0] | v[1] << 16, v[2] | v[3] << 16);
}
#endif
