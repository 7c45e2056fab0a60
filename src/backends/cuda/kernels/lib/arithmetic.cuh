// What bodies compute with beside CUDA's own functions (codegen/body_text.cpp prints the calls).
#pragma once
#include "backends/cuda/kernels/lib/types.cuh"

// ONNX and numpy say NaN where either operand is.
#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ float min_nan(float a, float b) { float y; asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b)); return y; }
__device__ __forceinline__ float max_nan(float a, float b) { float y; asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b)); return y; }
#else
__device__ __forceinline__ float min_nan(float a, float b) { return a != a ? a : b != b ? b : fminf(a, b); }
__device__ __forceinline__ float max_nan(float a, float b) { return a != a ? a : b != b ? b : fmaxf(a, b); }
#endif
__device__ __forceinline__ double min_nan(double a, double b) { return a != a ? a : b != b ? b : fmin(a, b); }
__device__ __forceinline__ double max_nan(double a, double b) { return a != a ? a : b != b ? b : fmax(a, b); }
// Of e to the power of what is below 0: exp(-x) would overflow where the result is a denormal.
template <class T> __device__ __forceinline__ T sigmoid(T x) {
  const T e = exp(x < T(0) ? x : -x);
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}
template <class T> __device__ __forceinline__ T sign_of(T x) { return x != x ? x : T((x > T(0)) - (x < T(0))); }
template <class T> __device__ __forceinline__ T floor_mod(T a, T b) {
  const T r = fmod(a, b);
  return r != T(0) && ((r < T(0)) != (b < T(0))) ? r + b : r;
}
template <class T> __device__ __forceinline__ T whole_div(T a, T b) {
  return b == T(0) ? T(0) : T(-1) < T(0) && b == T(-1) ? T(0 - a) : T(a / b);
}
template <class T> __device__ __forceinline__ T whole_rem(T a, T b) { return b == T(0) || (T(-1) < T(0) && b == T(-1)) ? T(0) : T(a % b); }
template <class T> __device__ __forceinline__ T whole_mod(T a, T b) {
  const T r = whole_rem(a, b);
  return r != T(0) && ((r < T(0)) != (b < T(0))) ? T(r + b) : r;
}
template <class T> __device__ __forceinline__ T whole_pow(T base, T exponent) {
  if (exponent < T(0)) return base == T(1) ? T(1) : base == T(-1) ? (exponent % T(2) ? T(-1) : T(1)) : T(0);
  u64 result = 1, square = (u64)base;
  for (u64 rest = (u64)exponent; rest; rest >>= 1, square *= square) if (rest & 1) result *= square;
  return (T)result;
}
template <class T> __device__ __forceinline__ T shift_left(T a, T b) { return b < T(0) || b >= T(8 * sizeof(T)) ? T(0) : T((u64)a << b); }
template <class T> __device__ __forceinline__ T shift_right(T a, T b) {
  return b < T(0) || b >= T(8 * sizeof(T)) ? (a < T(0) ? T(-1) : T(0)) : T(a >> b);
}
template <class T, class F> __device__ __forceinline__ T saturated(F x, double lower, double upper) {
  const double r = rint((double)x);
  return r != r ? T(0) : r <= lower ? (T)lower : r >= upper ? (T)upper : (T)r;
}
template <class T> __device__ __forceinline__ T saturated(float x, double lower, double upper) {
  if constexpr (sizeof(T) > 2) return saturated<T, double>((double)x, lower, upper);
  else if constexpr (sizeof(T) == 1 && (T)2 != (T)1)   // no boolean; as rounded_byte does it
    return (T)__float_as_uint(fminf(fmaxf(x != x ? 0.f : x, (float)lower), (float)upper) + 12582912.f);
  else return (T)min(max(__float2int_rn(x), (int)lower), (int)upper);   // NaN becomes 0
}
