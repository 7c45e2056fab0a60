// The f32 micro-kernels, one template for every instruction set, number of rows and width of a panel.
#pragma once

#include "backends/cpu/kernels/gemm/gemm_f32.h"
#include "backends/cpu/kernels/gemm/tile_f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

// A last vector of which the lower half exists is multiplied as one: cores that take 64 bytes in two halves skip the other.
constexpr bool kHalves = kLanes == 16 && kVectors == 2;
#if defined(__AVX512F__)
using Half = __m256;
TENFOLD_INLINE Half low_half(vf v) { return _mm512_castps512_ps256(v); }
TENFOLD_INLINE vf whole(Half v) { return _mm512_castps256_ps512(v); }
TENFOLD_INLINE Half fma_half(vf a, Half b, Half c) { return _mm256_fmadd_ps(low_half(a), b, c); }
#else
using Half = vf;
TENFOLD_INLINE Half low_half(vf v) { return v; }
TENFOLD_INLINE vf whole(Half v) { return v; }
TENFOLD_INLINE Half fma_half(vf a, Half b, Half c) { return fma(a, b, c); }
#endif

// One step of K: a column of A times a vector and a half.
template <int kRows>
TENFOLD_INLINE void half_step(vf (&sum)[kRows][2], Half (&half)[kRows], const float* const (&a)[kRows], std::int64_t k, const float* b) {
  const vf right = load(b);
  const Half rest = low_half(load(b + kLanes));
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    const vf left = set1(a[r][k]);
    sum[r][0] = fma(left, right, sum[r][0]);
    half[r] = fma_half(left, rest, half[r]);
  }
}

// One step of K: a column of A times a row of the panels, of which `kWidth` vectors exist.
template <int kRows, int kWidth, bool kDifference>
TENFOLD_INLINE void step(vf (&sum)[kRows][kWidth], const float* const (&a)[kRows], std::int64_t k, const GemmF32Tile& t, const float* b) {
  vf right[kWidth];
#pragma GCC unroll 8
  for (int v = 0; v < kWidth; ++v) {
    right[v] = load(b + v / kVectors * t.panel_step + v % kVectors * kLanes);
    if (!kDifference) continue;
    right[v] = sub(right[v], load(t.minus + (b - t.panel) + v * kLanes));
    store(t.made + (b - t.panel) + v * kLanes, right[v]);
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    const vf left = set1(a[r][k]);
#pragma GCC unroll 8
    for (int v = 0; v < kWidth; ++v) sum[r][v] = fma(left, right[v], sum[r][v]);
  }
}

template <int kRows, int kWidth, bool kDifference = false, bool kHalf = false>
TENFOLD_INLINE void product(const GemmF32Tile& t) {
  if (t.fetch) {
    fetch<kRows, kWidth>(t.c, t.c_stride, true);
    if (t.epilogue && t.epilogue->residual) fetch<kRows, kWidth>(t.epilogue->residual, t.epilogue->residual_stride, false);
  }
  vf sum[kRows][kWidth];
  const bool has_bias = begin_tile(sum, t);
  Half half[kRows];
#pragma GCC unroll 16
  for (int r = 0; kHalf && r < kRows; ++r) half[r] = low_half(sum[r][1]);
  const float* b = t.panel;
  const float* const* rows = t.rows;
  const char* soon = static_cast<const char*>(t.soon);
  const std::int64_t chunk = t.soon_lines ? kSoonSteps : t.k;
  for (std::int64_t tap = 0; tap < t.taps; ++tap, rows += kMaxRows) {
    if (rows[0] == nullptr) {
      b += t.k * kPanel;
      continue;
    }
    const float* a[kRows];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) a[r] = rows[r] + t.offset;
    for (std::int64_t left = t.k; left > 0;) {
      for (int line = 0; line < t.soon_lines; ++line, soon += 64) _mm_prefetch(soon, _MM_HINT_T1);
      // Counted up to zero behind the pointers: with a bound beside the counter twelve pointers do not fit the registers.
      const std::int64_t steps = left < chunk ? left : chunk;
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) a[r] += steps;
      left -= steps;
      for (std::int64_t k = -steps; k < 0; ++k, b += kPanel) {  // unrolled it is 7 % slower
        if constexpr (kHalf)
          half_step<kRows>(sum, half, a, k, b);
        else
          step<kRows, kWidth, kDifference>(sum, a, k, t, b);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; kHalf && r < kRows; ++r) sum[r][1] = whole(half[r]);
  store_sums(sum, t, has_bias);
}

// A panel of which only a part exists takes that part of the work.
template <int kRows>
TENFOLD_INLINE void part_product(const GemmF32Tile& t) {
  if (t.cols <= kLanes)
    product<kRows, 1>(t);
  else if (kVectors > 2 && t.cols <= 2 * kLanes)
    product<kRows, 2>(t);
  else if (kVectors > 3 && t.cols <= 3 * kLanes)
    product<kRows, 3>(t);
  else if (kHalves && t.cols <= kLanes + kLanes / 2)
    product<kRows, kVectors, false, kHalves>(t);
  else
    product<kRows, kVectors>(t);
}
template <int kRows>
void tile(const GemmF32Tile& t) {
  part_product<kRows>(t);
}
template <int kRows>
void difference(const GemmF32Tile& t) {
  product<kRows, kVectors, true>(t);
}
// Tile by tile, in each panel by panel.
template <int kRows>
void many(const GemmF32Tile& all, std::int64_t tiles) {
  GemmF32Tile t = all;
  GemmF32EpilogueArgs f;
  if (all.epilogue) t.epilogue = &f;
  for (std::int64_t i = 0; i < tiles; ++i, t.rows += t.taps * kMaxRows) {
    t.panel = all.panel;
    t.c = all.c + i * kRows * t.c_stride;
    if (all.epilogue) f = *all.epilogue;
    if (f.residual) f.residual += i * kRows * f.residual_stride;
    for (std::int64_t left = all.cols; left > 0; left -= kPanel, t.panel += t.panel_step, t.c += kPanel) {
      t.cols = left < kPanel ? left : kPanel;
      part_product<kRows>(t);
      if (f.bias) f.bias += kPanel;
      if (f.residual) f.residual += kPanel;
    }
  }
}
template <int kRows, int kPanels>
void wide(const GemmF32Tile& t) {
  product<kRows, kPanels * kVectors>(t);
}

// Tiles of more rows than this instruction set has registers for are never asked for.
#define OF_ROWS(function, rows) (rows <= kMaxRows ? function<(rows <= kMaxRows ? rows : 1)> : nullptr)
#define ALL_ROWS(f)                                                                                                               \
  {OF_ROWS(f, 1), OF_ROWS(f, 2), OF_ROWS(f, 3), OF_ROWS(f, 4),  OF_ROWS(f, 5),  OF_ROWS(f, 6),                                   \
   OF_ROWS(f, 7), OF_ROWS(f, 8), OF_ROWS(f, 9), OF_ROWS(f, 10), OF_ROWS(f, 11), OF_ROWS(f, 12)}
#if TENFOLD_PANEL_VECTORS == 4
constexpr GemmF32Kernels kTiles{kMaxRows,      kPanel, ALL_ROWS(tile), ALL_ROWS(difference), {2, 1, 1}, {wide<1, 2>, nullptr, nullptr},
                                ALL_ROWS(many)};
#else
constexpr GemmF32Kernels kTiles{
    kMaxRows, kPanel, ALL_ROWS(tile), ALL_ROWS(difference), {4, 2, 2}, {wide<1, 4>, wide<2, 2>, wide<3, 2>}, ALL_ROWS(many)};
#endif
#undef ALL_ROWS
#undef OF_ROWS

}  // namespace
}  // namespace tenfold::backends::cpu
