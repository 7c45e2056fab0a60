// CUDA C that all generated kernels share.
#include "backends/cuda/codegen/prelude.h"

#include "backends/cuda/codegen/gelu_text.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr std::string_view kPrelude = R"(
typedef unsigned char u8; typedef signed char i8; typedef unsigned short u16; typedef unsigned int u32;
typedef long long i64; typedef unsigned long long u64;
#define INFINITY_F __int_as_float(0x7f800000)

// Every kernel starts with this: it may have been started while the one before it ran (device/launch.h), whose results are there
// once it returns. The next one may come early if both are small enough to lie on the device together.
__device__ __forceinline__ void enter() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (gridDim.x * gridDim.y * gridDim.z <= 264u) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// For grids that enter() keeps the next kernel from: once all their blocks are there, it takes no room from them.
__device__ __forceinline__ void next_may_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

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

// V elements that are read or written at once.
template <class T, int V> struct alignas(sizeof(T) * V >= 16 ? 16 : sizeof(T) * V) Pack { T v[V]; };
template <int V, class T> __device__ __forceinline__ void read(const T* p, T (&x)[V]) {
  const Pack<T, V> pack = *reinterpret_cast<const Pack<T, V>*>(p);
  #pragma unroll
  for (int i = 0; i < V; ++i) x[i] = pack.v[i];
}
template <int V, class T> __device__ __forceinline__ void write(T* p, const T (&x)[V]) {
  Pack<T, V> pack;
  #pragma unroll
  for (int i = 0; i < V; ++i) pack.v[i] = x[i];
  *reinterpret_cast<Pack<T, V>*>(p) = pack;
}

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
  else return (T)min(max(__float2int_rn(x), (int)lower), (int)upper);   // NaN becomes 0
}

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
)";

struct Types {
  std::string_view storage, compute;
};
Types types(DType dtype) {
  switch (dtype) {
    case DType::f32: return {"float", "float"};
    case DType::f64: return {"double", "double"};
    case DType::f16:
    case DType::bf16: return {"u16", "float"};
    case DType::f8e4m3fn: return {"u8", "float"};
    case DType::i64: return {"i64", "i64"};
    case DType::i32: return {"int", "int"};
    case DType::i16: return {"short", "short"};
    case DType::i8: return {"i8", "i8"};
    case DType::u64: return {"u64", "u64"};
    case DType::u32: return {"u32", "u32"};
    case DType::u16: return {"u16", "u16"};
    case DType::u8: return {"u8", "u8"};
    case DType::boolean: return {"u8", "bool"};
    default: return {};
  }
}

}  // namespace

std::string_view prelude() {
  static const std::string text = cat(kPrelude, gelu_text());
  return text;
}
bool has_c_type(DType dtype) { return !types(dtype).storage.empty(); }
std::string_view storage_type(DType dtype) { return types(dtype).storage; }
std::string_view compute_type(DType dtype) { return types(dtype).compute; }

std::string loaded(DType dtype, const std::string& stored) {
  if (dtype == DType::f16) return cat("from_f16(", stored, ")");
  if (dtype == DType::bf16) return cat("from_bf16(", stored, ")");
  if (dtype == DType::f8e4m3fn) return cat("from_f8(", stored, ")");
  if (dtype == DType::boolean) return cat("(", stored, " != 0)");
  return stored;
}
std::string stored(DType dtype, const std::string& computed) {
  if (dtype == DType::f16) return cat("to_f16(", computed, ")");
  if (dtype == DType::bf16) return cat("to_bf16(", computed, ")");
  if (dtype == DType::f8e4m3fn) return cat("to_f8(", computed, ")");
  if (dtype == DType::boolean) return cat("(u8)(", computed, ")");
  return computed;
}

void replace_once(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  check(at != std::string::npos, "a kernel's text has no ", from);
  text.replace(at, from.size(), to);
}

}  // namespace tenfold::backends::cuda
