// What becomes of a tile of f32 sums: earlier sums added, the epilogue in registers, stores. Shared by the kernels of products.
#pragma once

#include <type_traits>

#include "backends/cpu/kernels/gemm/gemm_f32.h"
#include "backends/cpu/simd/f32.h"

namespace tenfold::backends::cpu {
namespace {  // every kernel file gets its own copy: nothing of one instruction set may be linked into another

using namespace simd;

#ifndef TENFOLD_PANEL_VECTORS
#define TENFOLD_PANEL_VECTORS 2
#endif
constexpr int kVectors = TENFOLD_PANEL_VECTORS;  // of a panel
constexpr int kPanel = kVectors * kLanes;
// Leaves registers for the panel's vectors and one broadcast.
constexpr int kMaxRows = kLanes < 16 || kVectors == 4 ? 6 : kVectors == 3 ? 9 : 12;

// The vector of a row that starts at column `at`, touching only columns below `cols`.
TENFOLD_INLINE vf load_part(const float* p, std::int64_t at, std::int64_t cols, bool whole) {
  if (whole || at + kLanes <= cols) return load(p + at);
  return at < cols ? load_n(p + at, cols - at) : zero();
}
TENFOLD_INLINE void store_part(float* p, vf v, std::int64_t at, std::int64_t cols, bool whole) {
  if (whole || at + kLanes <= cols) return store(p + at, v);
  if (at < cols) store_n(p + at, v, cols - at);
}

// The columns of a tile that exist: the first kWhole vectors as a whole, masks of the others, made once for all its rows.
template <int kWidth, int kWhole>
struct Columns {
  vmask exist[kWidth];
  inline __attribute__((always_inline)) explicit Columns(std::int64_t cols) {
#pragma GCC unroll 8
    for (int v = 0; v < kWidth; ++v) {
      const std::int64_t left = cols - v * kLanes;
      exist[v] = lanes(left < 0 ? 0 : left < kLanes ? left : kLanes);
    }
  }
  inline __attribute__((always_inline)) vf read(const float* row, int v) const {
    return v < kWhole ? load(row + v * kLanes) : load_if(row + v * kLanes, exist[v]);
  }
  inline __attribute__((always_inline)) void write(float* row, int v, vf x) const {
    v < kWhole ? store(row + v * kLanes, x) : store_if(row + v * kLanes, x, exist[v]);
  }
};

// At most half of one vector.
struct FewColumns : Columns<1, 0> {
  using Columns::Columns;
  inline __attribute__((always_inline)) void write(float* row, int, vf x) const { store_if_low(row, x, exist[0]); }
};

template <int kRows, int kWidth, class Cols>
TENFOLD_INLINE void apply_epilogue(vf (&sum)[kRows][kWidth], const GemmF32EpilogueArgs& f, const Cols& columns, bool has_bias) {
  if (f.bias && !has_bias) {
#pragma GCC unroll 8
    for (int v = 0; v < kWidth; ++v) {
      const vf bias = columns.read(f.bias, v);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) sum[r][v] = add(sum[r][v], bias);
    }
  }
  if (f.residual) {
    const float* row = f.residual;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r, row += f.residual_stride) {
#pragma GCC unroll 8
      for (int v = 0; v < kWidth; ++v) sum[r][v] = add(sum[r][v], columns.read(row, v));
    }
  }
  if (f.clamp) {
    const vf low = set1(f.low), high = set1(f.high);  // the second operand if there is a NaN
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < kWidth; ++v) sum[r][v] = max(low, sum[r][v]);
    }
    if (f.high == __builtin_inff()) return;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < kWidth; ++v) sum[r][v] = min(high, sum[r][v]);
    }
  }
}

template <class Cols, int kRows, int kWidth>
TENFOLD_INLINE void store_tile(vf (&sum)[kRows][kWidth], const GemmF32Tile& t, bool has_bias) {
  const Cols columns(t.cols);
  const std::int64_t stride = t.c_stride;
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
    for (int r = 0; r < kRows; ++r, row += stride) {
#pragma GCC unroll 8
      for (int v = 0; v < kWidth; ++v) sum[r][v] = add(columns.read(row, v), sum[r][v]);
    }
  }
  if (t.epilogue) apply_epilogue(sum, *t.epilogue, columns, has_bias);
  float* row = t.c;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r, row += stride) {
#pragma GCC unroll 8
    for (int v = 0; v < kWidth; ++v) columns.write(row, v, sum[r][v]);
  }
}

template <int kRows, int kWidth>
TENFOLD_INLINE void store_sums(vf (&sum)[kRows][kWidth], const GemmF32Tile& t, bool has_bias = false) {
  if (t.cols == kWidth * kLanes)
    store_tile<Columns<kWidth, kWidth>>(sum, t, has_bias);
  else if (kWidth == 1 && kLanes == 16 && t.cols <= 8)
    store_tile<std::conditional_t<kWidth == 1, FewColumns, Columns<kWidth, 0>>>(sum, t, has_bias);
  else if (kWidth > 1 && t.cols > (kWidth - 1) * kLanes)
    store_tile<Columns<kWidth, kWidth - 1>>(sum, t, has_bias);
  else
    store_tile<Columns<kWidth, 0>>(sum, t, has_bias);
}

// Asks for a tile's lines.
template <int kRows, int kWidth>
TENFOLD_INLINE void fetch(const float* p, std::int64_t stride, bool write) {
  constexpr int kLine = 16;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r, p += stride) {
#pragma GCC unroll 8
    for (int at = 0; at < kWidth * kLanes; at += kLine) write ? __builtin_prefetch(p + at, 1) : __builtin_prefetch(p + at, 0);
  }
}

// Where sums begin: at the bias of their columns if this tile is all of them, which is then done. True: it was the bias.
template <int kRows, int kWidth>
TENFOLD_INLINE bool begin_tile(vf (&sum)[kRows][kWidth], const GemmF32Tile& t) {
  const bool has_bias = t.epilogue && t.epilogue->bias && !t.accumulate && !t.also;
  const Columns<kWidth, 0> columns(has_bias ? t.cols : 0);
#pragma GCC unroll 8
  for (int v = 0; v < kWidth; ++v) {
    const vf first = has_bias ? columns.read(t.epilogue->bias, v) : zero();
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) sum[r][v] = first;
  }
  return has_bias;
}

}  // namespace
}  // namespace tenfold::backends::cpu
