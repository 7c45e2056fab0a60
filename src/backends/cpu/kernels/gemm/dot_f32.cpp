// The f32 product with very few columns: vectors lie along K, for along the columns most of their lanes would stand for nothing.
#include "backends/cpu/kernels/gemm/gemm_f32.h"
#include "backends/cpu/simd/f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;

constexpr int kColumns = 4;
constexpr int kMaxRows = kLanes == 16 ? 6 : 2;  // leaves registers for the columns' vectors and one of a row

// One vector of K. `w` are the columns' vectors.
template <int kRows, int kCols, bool kWhole>
TENFOLD_INLINE void step(vf (&sum)[kRows][kCols], const float* const (&a)[kRows], std::int64_t k, const float* w, vmask exist) {
  vf right[kCols];
#pragma GCC unroll 4
  for (int c = 0; c < kCols; ++c) right[c] = load(w + c * kLanes);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    const vf left = kWhole ? load(a[r] + k) : load_if(a[r] + k, exist);
#pragma GCC unroll 4
    for (int c = 0; c < kCols; ++c) sum[r][c] = fma(left, right[c], sum[r][c]);
  }
}

template <int kRows, int kCols>
TENFOLD_INLINE void store_sums(vf (&sum)[kRows][kCols], const GemmF32Tile& t) {
  const GemmF32EpilogueArgs none, &f = t.epilogue ? *t.epilogue : none;
  const four bias = f.bias ? load4(f.bias, kCols) : set4(0);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    four y = sum4(sum[r][0], kCols > 1 ? sum[r][kCols > 1] : zero(), kCols > 2 ? sum[r][kCols > 2 ? 2 : 0] : zero(),
                  kCols > 3 ? sum[r][kCols > 3 ? 3 : 0] : zero());
    float* const c = t.c + r * t.c_stride;
    if (t.accumulate) y = add4(load4(c, kCols), y);
    y = add4(y, bias);
    if (f.residual) y = add4(y, load4(f.residual + r * f.residual_stride, kCols));
    if (f.clamp) y = min4(set4(f.high), max4(set4(f.low), y));  // the second operand if there is a NaN
    store4(c, y, kCols);
  }
}

template <int kRows, int kCols>
TENFOLD_INLINE void product(const GemmF32Tile& t) {
  vf sum[kRows][kCols];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int c = 0; c < kCols; ++c) sum[r][c] = zero();
  }
  const std::int64_t whole = t.k / kLanes * kLanes;
  const vmask rest = lanes(t.k - whole);
  const float* w = t.panel;
  const float* const* rows = t.rows;
  for (std::int64_t tap = 0; tap < t.taps; ++tap, rows += kMaxRows) {
    if (rows[0] == nullptr) {
      w += (t.k + kLanes - 1) / kLanes * kLanes * kColumns;
      continue;
    }
    const float* a[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) a[r] = rows[r] + t.offset;
    for (std::int64_t k = 0; k < whole; k += kLanes, w += kColumns * kLanes) step<kRows, kCols, true>(sum, a, k, w, rest);
    if (whole < t.k) step<kRows, kCols, false>(sum, a, whole, w, rest), w += kColumns * kLanes;
  }
  store_sums(sum, t);
}

template <int kRows>
void tile(const GemmF32Tile& t) {
  switch (t.cols) {
    case 1: return product<kRows, 1>(t);
    case 2: return product<kRows, 2>(t);
    case 3: return product<kRows, 3>(t);
    default: return product<kRows, 4>(t);
  }
}

}  // namespace

#define TILE(rows) (rows <= kMaxRows ? tile<(rows <= kMaxRows ? rows : 1)> : nullptr)
extern "C" const GemmF32Kernels TENFOLD_TABLE(dot_f32) = {
    kMaxRows, kColumns, {TILE(1), TILE(2), TILE(3), TILE(4), TILE(5), TILE(6)}, {}, {}, {}, {}, kLanes};
#undef TILE

}  // namespace tenfold::backends::cpu
