// f32 products with few columns: two or four steps of K lie in a vector beside each other, so that one load of A meets four vectors of B
// where a plain tile would have two or one. Loads of 64 bytes go less than twice a clock, which binds narrow tiles.
#ifdef TENFOLD_ISA_avx512
#include "backends/cpu/kernels/gemm/tile_f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

constexpr int kTileRows = 6, kTileVectors = 4;

// kSteps values of a row, again and again; with a mask those that exist, zeros beside them.
template <int kSteps>
TENFOLD_INLINE vf repeat(const float* a) {
  if constexpr (kSteps == 2)
    return _mm512_castpd_ps(_mm512_set1_pd(*reinterpret_cast<const double __attribute__((may_alias, aligned(4)))*>(a)));
  else
    return _mm512_broadcast_f32x4(_mm_loadu_ps(a));
}
TENFOLD_INLINE vf repeat_some(const float* a, std::int64_t count, int steps) {
  const __m128 some = _mm_maskz_loadu_ps(static_cast<__mmask8>((1 << count) - 1), a);
  return steps == 2 ? _mm512_castpd_ps(_mm512_broadcastsd_pd(_mm_castps_pd(some))) : _mm512_broadcast_f32x4(some);
}

// Sums of neighbors in x and y.
TENFOLD_INLINE vf add_neighbors(vf x, vf y) {
  const vi even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const vi odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  return add(_mm512_permutex2var_ps(x, even, y), _mm512_permutex2var_ps(x, odd, y));
}

// One vector of A at a time: the sums and B leave registers for few.
template <int kRows, int kWidth, class Left>
TENFOLD_INLINE void multiply(vf (&sum)[kRows][kWidth], const float* b, Left&& left) {
  vf right[kWidth];
#pragma GCC unroll 4
  for (int v = 0; v < kWidth; ++v) right[v] = load(b + v * kLanes);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    const vf a = left(r);
#pragma GCC unroll 4
    for (int v = 0; v < kWidth; ++v) sum[r][v] = fma(a, right[v], sum[r][v]);
  }
}

// kWidth vectors of B are multiplied, of which each holds kLanes / kSteps columns.
template <int kRows, int kWidth, int kSteps>
TENFOLD_INLINE void product(const GemmF32Tile& t) {
  constexpr int kStep = kTileVectors * kLanes, kResults = (kWidth + kSteps - 1) / kSteps;
  if (t.fetch) {
    fetch<kRows, kResults>(t.c, t.c_stride, true);
    if (t.epilogue && t.epilogue->residual) fetch<kRows, kResults>(t.epilogue->residual, t.epilogue->residual_stride, false);
  }
  vf sum[kRows][kWidth];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kWidth; ++v) sum[r][v] = zero();
  }
  const float* b = t.panel;
  const float* const* rows = t.rows;
  const std::int64_t whole = t.k / kSteps * kSteps;
  for (std::int64_t tap = 0; tap < t.taps; ++tap, rows += kTileRows) {
    if (rows[0] == nullptr) {
      b += (t.k + kSteps - 1) / kSteps * kStep;
      continue;
    }
    const float* a[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) a[r] = rows[r] + t.offset;
    for (std::int64_t k = 0; k < whole; k += kSteps, b += kStep) multiply(sum, b, [&](int r) { return repeat<kSteps>(a[r] + k); });
    if (whole == t.k) continue;
    multiply(sum, b, [&](int r) { return repeat_some(a[r] + whole, t.k - whole, kSteps); });
    b += kStep;
  }
  vf result[kRows][kResults];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    const auto at = [&](int v) { return v < kWidth ? sum[r][v < kWidth ? v : 0] : zero(); };
    if constexpr (kSteps == 4) {
      result[r][0] = add_neighbors(add_neighbors(at(0), at(1)), add_neighbors(at(2), at(3)));
    } else {
#pragma GCC unroll 2
      for (int v = 0; v < kResults; ++v) result[r][v] = add_neighbors(at(2 * v), at(2 * v + 1));
    }
  }
  store_sums(result, t);
}

template <int kRows, int kSteps>
void tile(const GemmF32Tile& t) {
  constexpr int kColumns = kLanes / kSteps;
  if (t.cols <= 2 * kColumns)
    product<kRows, 2, kSteps>(t);
  else if (t.cols <= 3 * kColumns)
    product<kRows, 3, kSteps>(t);
  else
    product<kRows, 4, kSteps>(t);
}

template <int kSteps>
constexpr GemmF32Kernels kTable{
    .max_rows = kTileRows,
    .panel = kTileVectors* kLanes / kSteps,
    .tile = {tile<1, kSteps>, tile<2, kSteps>, tile<3, kSteps>, tile<4, kSteps>, tile<5, kSteps>, tile<6, kSteps>},
    .lanes = kSteps};

}  // namespace

extern "C" const GemmF32Kernels TENFOLD_TABLE(gemm_f32_pairs) = kTable<2>;
extern "C" const GemmF32Kernels TENFOLD_TABLE(gemm_f32_fours) = kTable<4>;

}  // namespace tenfold::backends::cpu
#endif
