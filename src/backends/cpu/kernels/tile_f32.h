// What ends a tile of f32 sums: earlier sums added, the finish in registers, stores. Shared by the kernels of products.
#pragma once

#include "backends/cpu/kernels/gemm_f32.h"
#include "backends/cpu/simd/f32.h"

namespace tenfold::backends::cpu {
namespace {  // every kernel file gets its own copy: nothing of one instruction set may be linked into another

using namespace simd;

constexpr int kVectors = 2;  // of a panel
constexpr int kPanel = kVectors * kLanes;
constexpr int kMaxRows = kLanes == 16 ? 12 : 6;  // leaves registers for the panel's vectors and one broadcast

// The vector of a row that starts at column `at`, touching only columns below `cols`.
TENFOLD_INLINE vf load_part(const float* p, std::int64_t at, std::int64_t cols, bool whole) {
  if (whole || at + kLanes <= cols) return load(p + at);
  return at < cols ? load_n(p + at, cols - at) : zero();
}
TENFOLD_INLINE void store_part(float* p, vf v, std::int64_t at, std::int64_t cols, bool whole) {
  if (whole || at + kLanes <= cols) return store(p + at, v);
  if (at < cols) store_n(p + at, v, cols - at);
}

template <int kRows, int kWidth>
TENFOLD_INLINE void finish(vf (&sum)[kRows][kWidth], const GemmF32Finish& f, std::int64_t cols, bool whole) {
  if (f.bias) {
#pragma GCC unroll 8
    for (int v = 0; v < kWidth; ++v) {
      const vf bias = load_part(f.bias, v * kLanes, cols, whole);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) sum[r][v] = add(sum[r][v], bias);
    }
  }
  if (f.residual) {
    const float* row = f.residual;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r, row += f.residual_stride) {
#pragma GCC unroll 8
      for (int v = 0; v < kWidth; ++v) sum[r][v] = add(sum[r][v], load_part(row, v * kLanes, cols, whole));
    }
  }
  if (f.clamp) {
    const vf low = set1(f.low), high = set1(f.high);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < kWidth; ++v) sum[r][v] = min(high, max(low, sum[r][v]));  // the second operand if there is a NaN
    }
  }
}

template <int kRows, int kWidth>
TENFOLD_INLINE void store_tile(vf (&sum)[kRows][kWidth], const GemmF32Tile& t, bool whole) {
  if (t.also) {
    float* row = t.also;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r, row += kPanel) {
#pragma GCC unroll 8
      for (int v = 0; v < kWidth; ++v) store(row + v * kLanes, add(load(row + v * kLanes), sum[r][v]));
    }
  }
  if (t.addend) {
    const float* row = t.addend;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r, row += kPanel) {
#pragma GCC unroll 8
      for (int v = 0; v < kWidth; ++v) sum[r][v] = add(sum[r][v], load(row + v * kLanes));
    }
  }
  if (t.accumulate) {
    const float* row = t.c;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r, row += t.c_stride) {
#pragma GCC unroll 8
      for (int v = 0; v < kWidth; ++v) sum[r][v] = add(load_part(row, v * kLanes, t.cols, whole), sum[r][v]);
    }
  }
  if (t.finish) finish(sum, *t.finish, t.cols, whole);
  float* row = t.c;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r, row += t.c_stride) {
#pragma GCC unroll 8
    for (int v = 0; v < kWidth; ++v) store_part(row, sum[r][v], v * kLanes, t.cols, whole);
  }
}

template <int kRows, int kWidth>
TENFOLD_INLINE void end_tile(vf (&sum)[kRows][kWidth], const GemmF32Tile& t) {
  if (t.cols == kWidth * kLanes)
    store_tile(sum, t, true);
  else
    store_tile(sum, t, false);
}

}  // namespace
}  // namespace tenfold::backends::cpu
