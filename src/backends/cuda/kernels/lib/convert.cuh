// Elements as they lie in memory, and as they are computed with.
#pragma once
#include "backends/cuda/kernels/lib/types.cuh"

__device__ __forceinline__ float from_f16(u16 x) { float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x)); return y; }
__device__ __forceinline__ u16 to_f16(float x) { u16 y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x)); return y; }
__device__ __forceinline__ float from_bf16(u16 x) { return __uint_as_float((u32)x << 16); }
__device__ __forceinline__ u16 to_bf16(float x) {
#if __CUDA_ARCH__ >= 800
  u16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
#else
  const u32 b = __float_as_uint(x);
  if ((b & 0x7fffffffu) > 0x7f800000u) return (u16)((b >> 16) | 0x40u);
  return (u16)((b + 0x7fffu + ((b >> 16) & 1u)) >> 16);
#endif
}

// e4m3: f16 has the same form with more bits of both; what is too large becomes the largest number, 448.
__device__ __forceinline__ float from_f8(u8 x) {
  const float y = from_f16((u16)((x & 0x80u) << 8 | (x & 0x7fu) << 7)) * 256.f;
  return (x & 0x7fu) == 0x7fu ? __int_as_float(0x7fffffff) : y;
}
__device__ __forceinline__ u8 to_f8(float x) {
#if __CUDA_ARCH__ >= 890
  u16 y;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(y) : "f"(0.f), "f"(x));
  return (u8)y;
#else
  const u32 sign = __float_as_uint(x) >> 24 & 0x80u;
  if (x != x) return (u8)(sign | 0x7fu);
  const float magnitude = fminf(fabsf(x), 448.f);
  if (magnitude < 0.015625f) return (u8)(sign | (u32)rintf(magnitude * 512.f));
  const u32 b = __float_as_uint(magnitude);
  return (u8)(sign | (((b + 0x7ffffu + (b >> 20 & 1u)) >> 20) - (120u << 3)));
#endif
}
