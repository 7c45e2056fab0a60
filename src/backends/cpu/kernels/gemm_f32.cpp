// The f32 micro-kernels, one template for every instruction set and number of rows.
#include "backends/cpu/kernels/gemm_f32.h"

#include "backends/cpu/simd/f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;

constexpr int kVectors = 2;                      // of a panel
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
      for (int v = 0; v < kWidth; ++v) sum[r][v] = min(high, max(low, sum[r][v]));   // the second operand if there is a NaN
    }
  }
}

template <int kRows, int kWidth>
TENFOLD_INLINE void store_tile(vf (&sum)[kRows][kWidth], const GemmF32Tile& t, bool whole) {
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

// One step of K: a column of A times a row of the panels.
template <int kRows, int kPanels>
TENFOLD_INLINE void step(vf (&sum)[kRows][kPanels * kVectors], const float* const (&a)[kRows], std::int64_t k, const float* b,
                         std::int64_t panel_step) {
  vf right[kPanels * kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kPanels * kVectors; ++v) right[v] = load(b + v / kVectors * panel_step + v % kVectors * kLanes);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    const vf left = set1(a[r][k]);
#pragma GCC unroll 8
    for (int v = 0; v < kPanels * kVectors; ++v) sum[r][v] = fma(left, right[v], sum[r][v]);
  }
}

template <int kRows, int kPanels>
void tile(const GemmF32Tile& t) {
  constexpr int kWidth = kPanels * kVectors;
  vf sum[kRows][kWidth];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kWidth; ++v) sum[r][v] = zero();
  }
  const float* b = t.panel;
  const float* const* rows = t.rows;
  for (std::int64_t tap = 0; tap < t.taps; ++tap, rows += kMaxRows) {
    const float* a[kRows];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) a[r] = rows[r] + t.offset;
    std::int64_t k = 0;
    for (; k + 4 <= t.k; k += 4, b += 4 * kPanel) {
      step<kRows, kPanels>(sum, a, k, b, t.panel_step);
      step<kRows, kPanels>(sum, a, k + 1, b + kPanel, t.panel_step);
      step<kRows, kPanels>(sum, a, k + 2, b + 2 * kPanel, t.panel_step);
      step<kRows, kPanels>(sum, a, k + 3, b + 3 * kPanel, t.panel_step);
    }
    for (; k < t.k; ++k, b += kPanel) step<kRows, kPanels>(sum, a, k, b, t.panel_step);
  }
  if (t.cols == kPanels * kPanel) store_tile(sum, t, true);
  else store_tile(sum, t, false);
}

}  // namespace

// Tiles of more rows than this instruction set has registers for are never asked for.
#define TILE(rows) (rows <= kMaxRows ? tile<(rows <= kMaxRows ? rows : 1), 1> : nullptr)
extern "C" const GemmF32Kernels TENFOLD_TABLE(gemm_f32) = {
    kMaxRows, kPanel,
    {TILE(1), TILE(2), TILE(3), TILE(4), TILE(5), TILE(6), TILE(7), TILE(8), TILE(9), TILE(10), TILE(11), TILE(12)},
    {4, 2, 2}, {tile<1, 4>, tile<2, 2>, tile<3, 2>}};
#undef TILE

}  // namespace tenfold::backends::cpu
