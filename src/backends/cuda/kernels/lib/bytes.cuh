// Whole numbers to floats and back without the conversion unit, which gives a multiprocessor 16 numbers a clock where it adds 128: in the
// last bits of 1.5 * 2^23 and a whole number, that number stands.
#pragma once
#include "backends/cuda/kernels/lib/types.cuh"

// Of magnitudes below 2^22.
__device__ __forceinline__ float of_small(int x) { return __int_as_float(x + 0x4b400000) - 12582912.f; }
__device__ __forceinline__ float of_byte(u8 x) { return __uint_as_float(0x4b000000u | x) - 8388608.f; }
__device__ __forceinline__ float of_byte(signed char x) { return __uint_as_float(0x4b000000u ^ 0x80u ^ (u8)x) - 8388736.f; }
// The last byte is the nearest whole number between the limits, the even one of two, and `zero` more; not a number counts as the lower.
template <int kLower, int kUpper> __device__ __forceinline__ u32 rounded_byte(float x, int zero) {
  return __float_as_uint(fminf(fmaxf(x, (float)kLower), (float)kUpper) + 12582912.f) + zero;
}
