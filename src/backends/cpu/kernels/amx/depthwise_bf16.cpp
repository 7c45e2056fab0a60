// The depthwise convolution of bf16 images. vdpbf16ps, which adds two products, takes four times as long as a product of f32 that is
// added: widening, then f32, is faster.
#include "backends/cpu/kernels/conv/depthwise_bf16.h"

#include <immintrin.h>

#include "backends/cpu/simd/isa.h"

#define TENFOLD_INLINE static inline __attribute__((always_inline))

namespace tenfold::backends::cpu {
namespace {

constexpr int kVector = kDepthwiseBf16Block;

struct Pair {
  __m512 even, odd;
};
TENFOLD_INLINE Pair halves(__m512i raw) {
  asm("" : "+v"(raw));  // one load, though halves could be read from memory each
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000u));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(raw, 16)), _mm512_castsi512_ps(_mm512_and_si512(raw, upper))};
}

// Channels of a vector that exist.
template <bool kWhole>
struct Channels {
  __mmask32 exist;
  explicit Channels(std::int64_t count) : exist(kWhole ? ~0u : (1u << count) - 1) {}
  inline __attribute__((always_inline)) Pair read(const void* p) const {
    return halves(kWhole ? _mm512_loadu_si512(p) : _mm512_maskz_loadu_epi16(exist, p));
  }
  inline __attribute__((always_inline)) void write(std::uint16_t* p, const Pair& v) const {
    const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3,
                                           18, 2, 17, 1, 16, 0);
    const __m512i all = _mm512_permutexvar_epi16(order, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(v.odd, v.even)));
    kWhole ? _mm512_storeu_si512(p, all) : _mm512_mask_storeu_epi16(p, exist, all);
  }
  inline __attribute__((always_inline)) void write(float* p, const Pair& v) const {
    const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512 a = _mm512_permutex2var_ps(v.even, low, v.odd);
    const __m512 b = _mm512_permutex2var_ps(v.even, _mm512_add_epi32(low, _mm512_set1_epi32(8)), v.odd);
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>(exist), a);
    _mm512_mask_storeu_ps(p + 16, static_cast<__mmask16>(exist >> 16), b);
  }
};

TENFOLD_INLINE Pair weight(const float* weights) { return {_mm512_loadu_ps(weights), _mm512_loadu_ps(weights + 16)}; }
TENFOLD_INLINE void add_product(Pair& sum, const Pair& w, const Pair& x) {
  sum.even = _mm512_fmadd_ps(w.even, x.even, sum.even);
  sum.odd = _mm512_fmadd_ps(w.odd, x.odd, sum.odd);
}
TENFOLD_INLINE void add(Pair& sum, const Pair& x) {
  sum.even = _mm512_add_ps(sum.even, x.even);
  sum.odd = _mm512_add_ps(sum.odd, x.odd);
}
// The values in registers: compilers like to load them again for each use.
TENFOLD_INLINE void hold(Pair& p) { asm("" : "+v"(p.even), "+v"(p.odd)); }

// Neighboring windows in a line: each position is read once and used by all windows it lies in.
// kInside: all positions exist; else those of the first and the last window, of which some other tap is inside, may not.
template <int kRows, int kTaps, int kStride, bool kInside, bool kWhole>
TENFOLD_INLINE void sum_line(Pair (&sum)[kRows], const DepthwiseBf16Tile& t, const Channels<kWhole>& channels, const float* weights,
                             std::int64_t at) {
  const std::uint16_t* const zeros = t.zeros + at;
  for (std::int64_t line = 0; line < t.lines; ++line, weights += kTaps * kVector) {
    if (t.rows[line] == nullptr) continue;
    Pair w[kTaps];
#pragma GCC unroll 8
    for (int tap = 0; tap < kTaps; ++tap) w[tap] = weight(weights + tap * kVector), hold(w[tap]);
    const std::uint16_t* position = t.rows[line] + at;
#pragma GCC unroll 32
    for (int i = 0; i < (kRows - 1) * kStride + kTaps; ++i, position += t.step) {
      const bool outside = !kInside && ((i < kTaps - 1 && i < t.first) || (i > (kRows - 1) * kStride && i >= t.last));
      Pair x = channels.read(outside ? zeros : position);
      hold(x);
#pragma GCC unroll 8
      for (int tap = 0; tap < kTaps; ++tap)
        if (i >= tap && (i - tap) % kStride == 0 && (i - tap) / kStride < kRows) add_product(sum[(i - tap) / kStride], w[tap], x);
    }
  }
}

template <int kRows, bool kWhole>
TENFOLD_INLINE void apply_epilogue(Pair (&sum)[kRows], const DepthwiseBf16Tile& t, const Channels<kWhole>& channels, std::int64_t column) {
  const GemmBf16EpilogueArgs* f = t.epilogue;
  if (t.sums) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) channels.write(t.sums + r * t.c_stride + column, sum[r]);
    return;
  }
  if (f && f->residual) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) add(sum[r], channels.read(f->residual + (r * f->residual_stride + column) * 2));
  }
  if (f && f->clamp) {
    const __m512 low = _mm512_set1_ps(f->low), high = _mm512_set1_ps(f->high);  // the second operand if there is a NaN
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) sum[r] = {_mm512_max_ps(low, sum[r].even), _mm512_max_ps(low, sum[r].odd)};
    if (f->high != __builtin_inff()) {
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) sum[r] = {_mm512_min_ps(high, sum[r].even), _mm512_min_ps(high, sum[r].odd)};
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) channels.write(t.c + r * t.c_stride + column, sum[r]);
}

// Walks over the channels by vectors: sum_some(sum, Channels, weights, offset of the vector), sums beginning at the bias.
template <int kRows, class Sum>
TENFOLD_INLINE void each_vector(const DepthwiseBf16Tile& t, std::int64_t taps, Sum&& sum_some) {
  const auto vector = [&](auto channels, std::int64_t column) __attribute__((always_inline)) {
    Pair sum[kRows];
    const char* bias = t.epilogue ? t.epilogue->bias : nullptr;
    const Pair begin = bias ? channels.read(bias + column * 2) : Pair{_mm512_setzero_ps(), _mm512_setzero_ps()};
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) sum[r] = begin;
    sum_some(sum, channels, t.weights + column * taps, t.offset + column);
    apply_epilogue<kRows>(sum, t, channels, column);
  };
  std::int64_t column = 0;
  for (; column + kVector <= t.cols; column += kVector) vector(Channels<true>(kVector), column);
  if (column < t.cols) vector(Channels<false>(t.cols - column), column);
}

template <int kRows, int kTaps, int kStride, bool kInside>
void tile(const DepthwiseBf16Tile& t) {
  each_vector<kRows>(t, t.lines * kTaps, [&](auto& sum, const auto& channels, const float* weights, std::int64_t at)
                         __attribute__((always_inline)) { sum_line<kRows, kTaps, kStride, kInside>(sum, t, channels, weights, at); });
}

// Cut into tiles of nearly equal height, whose pointers move along.
template <int kTaps, int kStride>
void line(const DepthwiseBf16Tile& all, std::int64_t results) {
  constexpr int kMax = 8, kMaxLines = 64;
  constexpr void (*kTiles[2][kMax])(const DepthwiseBf16Tile&) = {
      {tile<1, kTaps, kStride, false>, tile<2, kTaps, kStride, false>, tile<3, kTaps, kStride, false>, tile<4, kTaps, kStride, false>,
       tile<5, kTaps, kStride, false>, tile<6, kTaps, kStride, false>, tile<7, kTaps, kStride, false>, tile<8, kTaps, kStride, false>},
      {tile<1, kTaps, kStride, true>, tile<2, kTaps, kStride, true>, tile<3, kTaps, kStride, true>, tile<4, kTaps, kStride, true>,
       tile<5, kTaps, kStride, true>, tile<6, kTaps, kStride, true>, tile<7, kTaps, kStride, true>, tile<8, kTaps, kStride, true>}};
  const std::uint16_t* rows[kMaxLines];
  DepthwiseBf16Tile t = all;
  GemmBf16EpilogueArgs f;
  if (all.epilogue) f = *all.epilogue, t.epilogue = &f;
  t.rows = rows;
  for (std::int64_t i = 0; i < all.lines; ++i) rows[i] = all.rows[i];
  for (std::int64_t tiles = (results + kMax - 1) / kMax; tiles > 0; --tiles) {
    const std::int64_t height = (results + tiles - 1) / tiles, move = height * kStride;
    const bool inside = t.first <= 0 && (height - 1) * kStride + kTaps <= t.last;
    kTiles[inside][height - 1](t);
    results -= height;
    t.first -= move, t.last -= move;
    if (t.sums)
      t.sums += height * t.c_stride;
    else
      t.c += height * t.c_stride;
    if (f.residual) f.residual += height * f.residual_stride * 2;
    for (std::int64_t i = 0; i < all.lines; ++i)
      if (rows[i]) rows[i] += move * t.step;
  }
}

void window(const DepthwiseBf16Tile& t) {
  each_vector<1>(t, t.lines, [&](auto& sum, const auto& channels, const float* weights, std::int64_t at) __attribute__((always_inline)) {
    for (std::int64_t tap = 0; tap < t.lines; ++tap)
      if (t.rows[tap]) add_product(sum[0], weight(weights + tap * kVector), channels.read(t.rows[tap] + at));
  });
}

void widen(const std::uint16_t* from, std::int64_t vectors, float* to) {
  for (; vectors > 0; --vectors, from += kVector, to += kVector) {
    const Pair w = halves(_mm512_loadu_si512(from));
    _mm512_storeu_ps(to, w.even);
    _mm512_storeu_ps(to + 16, w.odd);
  }
}

}  // namespace

extern "C" const DepthwiseBf16Kernels TENFOLD_TABLE(depthwise_bf16) = {
    {{line<3, 1>, line<3, 2>}, {line<5, 1>, line<5, 2>}}, window, widen};

}  // namespace tenfold::backends::cpu
