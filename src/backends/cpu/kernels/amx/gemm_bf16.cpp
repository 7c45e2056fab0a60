// The bf16 product with AMX: two tiles of rows times two of columns keep four accumulators busy.
#include "backends/cpu/kernels/gemm_bf16.h"

#include <immintrin.h>

#include <algorithm>
#include <limits>

#include "backends/cpu/kernels/amx/gelu.h"
#include "backends/cpu/kernels/amx/split.h"
#include "backends/cpu/kernels/amx/tile_shapes.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

constexpr int kTile = 16, kStepBytes = 64, kPanelTile = 512;   // rows of a tile, bytes of a step of A, values of a tile of B

void enter() { _tile_loadconfig(&kWholeTiles); }
void leave() { _tile_release(); }

__mmask32 lanes32_of(std::int64_t left) { return left >= 32 ? ~__mmask32{0} : (__mmask32{1} << (left > 0 ? left : 0)) - 1; }

template <bool kWide>
__m512i load32(const char* from, std::int64_t at, __mmask32 lanes) {
  if constexpr (!kWide) return _mm512_maskz_loadu_epi16(lanes, from + at * 2);
  const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes), from + at * 4);
  const __m512 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes >> 16), from + at * 4 + 64);
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
}

Split split32(const char* from, std::int64_t at, __mmask32 lanes) {
  return split(_mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes), from + at * 4),
               _mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes >> 16), from + at * 4 + 64));
}

void split_rows(const Bf16Copy& c) {
  const char* from = c.from;
  char* to = c.to;
  for (std::int64_t r = 0; r < c.rows; ++r, from += c.from_bytes, to += c.to_bytes) {
    for (std::int64_t at = 0; at < c.padded; at += 32) {
      const __mmask32 lanes = lanes32_of(c.padded - at);
      const Split parts = split32(from, at, lanes32_of(c.count - at));
      _mm512_mask_storeu_epi16(to + at * 2, lanes, parts.high);
      _mm512_mask_storeu_epi16(to + c.low + at * 2, lanes, parts.low);
    }
  }
}

template <bool kWide>
void copy_rows(const Bf16Copy& c) {
  const char* from = c.from;
  char* to = c.to;
  for (std::int64_t r = 0; r < c.rows; ++r, from += c.from_bytes, to += c.to_bytes) {
    std::int64_t at = 0;
    for (; at + 32 <= c.count; at += 32) _mm512_storeu_si512(to + at * 2, load32<kWide>(from, at, ~__mmask32{0}));
    if (at < c.padded)
      _mm512_mask_storeu_epi16(to + at * 2, lanes32_of(c.padded - at), load32<kWide>(from, at, lanes32_of(c.count - at)));
  }
}

void copy(const Bf16Copy& c) {
  if (c.wide && c.low != 0)
    split_rows(c);
  else if (c.wide)
    copy_rows<true>(c);
  else
    copy_rows<false>(c);
}

// Tile registers are literal numbers: 0-3 sums [row tile][column tile], 4-5 rows of A, 6-7 columns of B.
inline void load_columns(const std::uint16_t* b) {
  _tile_loadd(6, b, kStepBytes);
  _tile_loadd(7, b + kPanelTile, kStepBytes);
}

template <bool kTwoRows>
inline void add_products() {
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  if constexpr (kTwoRows) {
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
}

template <bool kTwoRows>
inline void add_products_of(const GemmBf16Tile& t, const char* upper, const char* lower) {
  _tile_loadd(4, upper, t.row_bytes[0]);
  if constexpr (kTwoRows) _tile_loadd(5, lower, t.row_bytes[1]);
  add_products<kTwoRows>();
}

// Two parts are three products of 8 loads: low rows and then high ones times high columns, these rows times low columns.
template <bool kTwoRows, bool kParts>
void multiply_rows(const GemmBf16Tile& t, float* sums, std::int64_t stride) {
  _tile_zero(0);
  _tile_zero(1);
  if constexpr (kTwoRows) {
    _tile_zero(2);
    _tile_zero(3);
  }
  const std::uint16_t* b = t.panel;
  for (std::int64_t tap = 0; tap < t.tap_count; ++tap) {
    const char *upper = t.a[0] + t.taps[tap], *lower = t.a[kTwoRows ? 1 : 0] + t.taps[tap];
    for (std::int64_t s = 0; s < t.steps; ++s, upper += kStepBytes, lower += kStepBytes) {
      load_columns(b);
      if constexpr (kParts) add_products_of<kTwoRows>(t, upper + t.low, lower + t.low);
      add_products_of<kTwoRows>(t, upper, lower);
      b += 2 * kPanelTile;
      if constexpr (kParts) {
        load_columns(b);
        add_products<kTwoRows>();
        b += 2 * kPanelTile;
      }
    }
  }
  const std::int64_t bytes = stride * 4;
  _tile_stored(0, sums, bytes);
  _tile_stored(1, sums + kTile, bytes);
  if constexpr (kTwoRows) {
    _tile_stored(2, sums + kTile * stride, bytes);
    _tile_stored(3, sums + kTile * stride + kTile, bytes);
  }
}

void multiply(const GemmBf16Tile& t, float* sums, std::int64_t stride) {
  const bool two = t.a[1] != nullptr;
  if (t.low != 0)
    two ? multiply_rows<true, true>(t, sums, stride) : multiply_rows<false, true>(t, sums, stride);
  else
    two ? multiply_rows<true, false>(t, sums, stride) : multiply_rows<false, false>(t, sums, stride);
}

void fetch(const char* at, std::int64_t stride, std::int64_t rows, std::int64_t bytes) {
  for (; rows > 0; --rows, at += stride)
    for (std::int64_t b = 0; b < bytes; b += 64) _mm_prefetch(at + b, _MM_HINT_T1);
}

// 32 values of f32, or of bf16 as f32; `lanes`: those that exist.
struct Pair {
  __m512 low, high;
};
Pair load_pair(bool wide, __mmask32 lanes, const char* from) {
  if (wide)
    return {_mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes), from),
            _mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes >> 16), from + 64)};
  const __m512i v = _mm512_maskz_loadu_epi16(lanes, from);
  const auto widen = [](__m256i x) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16)); };
  return {widen(_mm512_castsi512_si256(v)), widen(_mm512_extracti64x4_epi64(v, 1))};
}

struct RowEnd {
  const float* bias;
  __m512 low, high;
  bool residual_wide;
};
// One row, 32 columns at a time: memory is touched in its order, as the fetching ahead wants it.
template <bool kResidual, bool kWide, bool kGelu>
void finish_row(const RowEnd& e, const float* sums, const char* residual, std::int64_t cols, char* out) {
  for (std::int64_t c = 0; c < cols; c += 32) {
    const __mmask32 lanes = lanes32_of(cols - c);
    Pair v{_mm512_add_ps(_mm512_loadu_ps(sums + c), _mm512_loadu_ps(e.bias + c)),
           _mm512_add_ps(_mm512_loadu_ps(sums + c + 16), _mm512_loadu_ps(e.bias + c + 16))};
    if constexpr (kResidual) {
      const Pair r = load_pair(e.residual_wide, lanes, residual + c * (e.residual_wide ? 4 : 2));
      v = {_mm512_add_ps(v.low, r.low), _mm512_add_ps(v.high, r.high)};
    }
    v = {_mm512_min_ps(e.high, _mm512_max_ps(e.low, v.low)), _mm512_min_ps(e.high, _mm512_max_ps(e.low, v.high))};   // keeps NaN
    if constexpr (kGelu) v = {gelu_erf(v.low), gelu_erf(v.high)};
    if constexpr (kWide) {
      _mm512_mask_storeu_ps(out + c * 4, static_cast<__mmask16>(lanes), v.low);
      _mm512_mask_storeu_ps(out + c * 4 + 64, static_cast<__mmask16>(lanes >> 16), v.high);
    } else {
      _mm512_mask_storeu_epi16(out + c * 2, lanes, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(v.high, v.low)));
    }
  }
}

void finish_columns(const GemmBf16Finish& f, const float* sums, std::int64_t stride, std::int64_t rows, std::int64_t cols, const char* bias,
                    const char* residual, char* out, std::int64_t out_bytes) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  alignas(64) float wide_bias[GemmBf16Finish::kColumns];
  for (std::int64_t c = 0; c < cols; c += 32) {
    const Pair b = bias ? load_pair(f.bias_wide, lanes32_of(cols - c), bias + c * (f.bias_wide ? 4 : 2)) : Pair{};
    _mm512_store_ps(wide_bias + c, b.low);
    _mm512_store_ps(wide_bias + c + 16, b.high);
  }
  const RowEnd e{wide_bias, _mm512_set1_ps(f.clamp ? f.low : -kInfinity), _mm512_set1_ps(f.clamp ? f.high : kInfinity), f.residual_wide};
  using Row = decltype(&finish_row<false, false, false>);
  static constexpr Row kRow[2][2][2] = {{{finish_row<false, false, false>, finish_row<false, false, true>},
                                         {finish_row<false, true, false>, finish_row<false, true, true>}},
                                        {{finish_row<true, false, false>, finish_row<true, false, true>},
                                         {finish_row<true, true, false>, finish_row<true, true, true>}}};
  const Row row = kRow[residual != nullptr][f.out_wide][f.gelu];
  const std::int64_t residual_bytes = f.residual_stride * (f.residual_wide ? 4 : 2);
  // Short rows with gaps between them: what fetches ahead on its own follows neighbouring lines only.
  constexpr std::int64_t kRowsAhead = 16, kShortRow = 64;
  const bool apart = cols * 2 <= kShortRow && out_bytes > 2 * kShortRow;
  for (std::int64_t r = 0; r < rows; ++r, sums += stride, out += out_bytes) {
    if (apart) _m_prefetchw(out + kRowsAhead * out_bytes);
    row(e, sums, residual, cols, out);
    if (residual) residual += residual_bytes;
  }
}

void finish(const GemmBf16Finish& f, const float* sums, std::int64_t stride, std::int64_t rows, std::int64_t cols, char* out,
            std::int64_t out_stride) {
  const int element = f.out_wide ? 4 : 2, bias = f.bias_wide ? 4 : 2, residual = f.residual_wide ? 4 : 2;
  for (std::int64_t c = 0; c < cols; c += GemmBf16Finish::kColumns)
    finish_columns(f, sums + c, stride, rows, std::min<std::int64_t>(GemmBf16Finish::kColumns, cols - c),
                   f.bias ? f.bias + c * bias : nullptr, f.residual ? f.residual + c * residual : nullptr, out + c * element,
                   out_stride * element);
}

}  // namespace

extern "C" const GemmBf16Kernels TENFOLD_TABLE(gemm_bf16) = {enter, leave, copy, fetch, multiply, finish};

}  // namespace tenfold::backends::cpu
