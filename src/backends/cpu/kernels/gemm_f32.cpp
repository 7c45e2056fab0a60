// The f32 micro-kernels, one template for every instruction set and number of rows.
#include "backends/cpu/kernels/gemm_f32.h"

#include "backends/cpu/kernels/tile_f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

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
    for (std::int64_t k = 0; k < t.k; ++k, b += kPanel) step<kRows, kPanels>(sum, a, k, b, t.panel_step);  // unrolled it is 7 % slower
  }
  end_tile(sum, t);
}

}  // namespace

// Tiles of more rows than this instruction set has registers for are never asked for.
#define TILE(rows) (rows <= kMaxRows ? tile<(rows <= kMaxRows ? rows : 1), 1> : nullptr)
extern "C" const GemmF32Kernels TENFOLD_TABLE(gemm_f32) = {
    kMaxRows,
    kPanel,
    {TILE(1), TILE(2), TILE(3), TILE(4), TILE(5), TILE(6), TILE(7), TILE(8), TILE(9), TILE(10), TILE(11), TILE(12)},
    {4, 2, 2},
    {tile<1, 4>, tile<2, 2>, tile<3, 2>}};
#undef TILE

}  // namespace tenfold::backends::cpu
