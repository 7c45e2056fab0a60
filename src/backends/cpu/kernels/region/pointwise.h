// The loops of the block executor: one per operation and lane type, over [rows x cols] blocks whose columns are contiguous.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

// The operations, in the order of ir::Prim (checked where the two meet), then those that the compiler of blocks makes itself.
enum class Op : std::uint8_t {
  constant,
  cast,
  saturate,
  neg,
  abs,
  sign,
  sqrt,
  rsqrt,
  reciprocal,
  exp,
  log,
  erf,
  tanh,
  sigmoid,
  floor,
  ceil,
  round_even,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  asinh,
  acosh,
  atanh,
  logical_not,
  bit_not,
  is_nan,
  is_inf,
  add,
  sub,
  mul,
  div,
  pow,
  min,
  max,
  mod,
  fmod,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  logical_and,
  logical_or,
  logical_xor,
  select,
  fma,
  reduce_sum,
  reduce_max,
  reduce_min,
  // f32 only, from here on
  gelu_erf,
  gelu_tanh,
  silu,
  max_number,
  min_number,     // the second operand is known not to be NaN; NaN in the first one passes
  scale_i32,      // f32(a) * b, a is i32
  scale_add_i32,  // f32(a) * b + c
  add_relu,       // max(a + b, 0)
  fma_relu,       // max(a * b + c, 0)
  count_
};

// Types that lanes have in registers. Booleans are u8 of 0 and 1; f16 and bf16 are computed as f32 and rounded.
enum class LaneType : std::uint8_t { f32, f64, i64, i32, i16, i8, u64, u32, u16, u8, count_ };
inline constexpr int kOps = static_cast<int>(Op::count_), kLaneTypes = static_cast<int>(LaneType::count_);

struct PointwiseArg {
  const void* data;
  std::int64_t row_stride;  // in elements
};
// out[r][c] = f(args...). Bit k of `uniform`: argument k has one element a row, the same for all columns.
// The output may be an argument's own memory if both have the same element size and stride.
using PointwiseKernel = void (*)(void* out, std::int64_t out_row_stride, const PointwiseArg* args, unsigned uniform, std::int64_t rows,
                                 std::int64_t cols);

struct PointwiseF32Kernels {
  PointwiseKernel op[kOps];  // null where there is none
};
struct PointwiseLaneKernels {
  PointwiseKernel op[kLaneTypes][kOps];  // all but f32; logical operations under u8
};
struct PointwiseCastKernels {
  PointwiseKernel cast[kLaneTypes][kLaneTypes];      // from, to
  PointwiseKernel saturate[kLaneTypes][kLaneTypes];  // to integers
  PointwiseKernel to_boolean[kLaneTypes];
  PointwiseKernel half_to_f32, f32_to_half, round_to_half, bf16_to_f32, f32_to_bf16, round_to_bf16;
  PointwiseKernel copy[4];  // of elements of 1, 2, 4, 8 bytes
};
// x, scale and, by index 1, zero point, which the same row has in all columns: saturate(round_even(x / scale) + zero point), for scales
// that invert (simd/quotient.h) and zero points that are small whole numbers.
struct PointwiseQuantizeKernels {
  PointwiseKernel to_u8[2], to_i8[2];
};
// Where the CPU rounds to bf16 by itself: what replaces kernels of the same names, and GELU to the precision of bf16.
struct PointwiseBf16Kernels {
  PointwiseKernel f32_to_bf16, round_to_bf16;
  PointwiseKernel gelu_erf[2];  // to bf16 from f32, from bf16
};
// Copies columns at any stride, in elements: gather reads strided and writes dense, scatter the other way round.
using PointwiseMove = void (*)(void* to, std::int64_t to_row, const void* from, std::int64_t from_row, std::int64_t col_stride,
                               std::int64_t rows, std::int64_t cols);
// accumulator[r] = the reduction of row r, joined with what accumulator[r] holds unless `first`.
using PointwiseReduce = void (*)(void* accumulator, const PointwiseArg& arg, unsigned uniform, bool first, std::int64_t rows,
                                 std::int64_t cols);
struct PointwiseRowKernels {
  PointwiseReduce reduce[kLaneTypes][3];  // sum, max, min
  PointwiseMove gather[4], scatter[4];    // by log2 of the element's bytes
};

extern "C" {
extern const PointwiseF32Kernels tenfold_pointwise_f32_avx2, tenfold_pointwise_f32_avx512;
extern const PointwiseLaneKernels tenfold_pointwise_lane_avx2, tenfold_pointwise_lane_avx512;
extern const PointwiseCastKernels tenfold_pointwise_cast_avx2, tenfold_pointwise_cast_avx512;
extern const PointwiseQuantizeKernels tenfold_pointwise_quantize_avx2, tenfold_pointwise_quantize_avx512;
extern const PointwiseBf16Kernels tenfold_pointwise_bf16_avx512bf16;
extern const PointwiseRowKernels tenfold_pointwise_row_avx2, tenfold_pointwise_row_avx512;
}

}  // namespace tenfold::backends::cpu
