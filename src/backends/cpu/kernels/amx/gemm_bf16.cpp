// The bf16 product with AMX: two tiles of rows times two of columns keep four accumulators busy.
#include "backends/cpu/kernels/gemm/gemm_bf16.h"

#include <immintrin.h>

#include <algorithm>

#include "backends/cpu/kernels/amx/row_epilogue.h"
#include "backends/cpu/kernels/amx/split.h"
#include "backends/cpu/kernels/amx/tile_shapes.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

constexpr int kFewSteps = 8, kTile = 16, kStepBytes = 64, kPanelTile = 512;   // rows of a tile, bytes of a step of A, values of a tile of B

void enter() { _tile_loadconfig(&kWholeTiles); }
void leave() { _tile_release(); }

template <bool kWide>
__m512i load32(const char* from, std::int64_t at, __mmask32 lanes) {
  if constexpr (!kWide) return _mm512_maskz_loadu_epi16(lanes, from + at * 2);
  const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes), from + at * 4);
  const __m512 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes >> 16), from + at * 4 + 64);
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
}

template <int kTerms>
void split_rows(const Bf16Copy& c) {
  const char* from = c.from;
  char* to = c.to;
  for (std::int64_t r = 0; r < c.rows; ++r, from += c.from_bytes, to += c.to_bytes) {
    for (std::int64_t at = 0; at < c.padded; at += 32) {
      const __mmask32 lanes = lanes32_of(c.padded - at), known = lanes32_of(c.count - at);
      const __m512 first = _mm512_maskz_loadu_ps(static_cast<__mmask16>(known), from + at * 4);
      const __m512 second = _mm512_maskz_loadu_ps(static_cast<__mmask16>(known >> 16), from + at * 4 + 64);
      __m512i term[kTerms];
      if constexpr (kTerms == 2)
        round_in_two(first, second, term);
      else
        split_in_three(first, second, term);
      for (int i = 0; i < kTerms; ++i) _mm512_mask_storeu_epi16(to + at * 2 + i * c.low, lanes, term[i]);
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
  if (c.wide && c.terms == 3)
    split_rows<3>(c);
  else if (c.wide && c.terms == 2)
    split_rows<2>(c);
  else if (c.wide)
    copy_rows<true>(c);
  else
    copy_rows<false>(c);
}

// Tile registers are literal numbers: 0-3 sums [row tile][column tile], 4-5 rows of A, 6-7 columns of B.
template <bool kTwoRows>
inline void clear_sums() {
  _tile_zero(0);
  _tile_zero(1);
  if constexpr (kTwoRows) {
    _tile_zero(2);
    _tile_zero(3);
  }
}

template <bool kTwoRows>
inline void load_sums(const float* sums, std::int64_t stride) {
  const std::int64_t bytes = stride * 4;
  _tile_loadd(0, sums, bytes);
  _tile_loadd(1, sums + kTile, bytes);
  if constexpr (kTwoRows) {
    _tile_loadd(2, sums + kTile * stride, bytes);
    _tile_loadd(3, sums + kTile * stride + kTile, bytes);
  }
}

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

inline void advance(GemmBf16Ahead& a) {
  const std::int64_t count = std::min(a.each, a.lines);
  for (std::int64_t i = 0; i < count; ++i, a.at += 64) _mm_prefetch(a.at, _MM_HINT_T1);
  a.lines -= count;
}

// Where a step of B begins, and its next term: terms of two steps take turns (GemmBf16Tile::whole).
template <int kTerms>
struct Columns {
  static constexpr std::int64_t kStep = 2 * kPanelTile, kTerm = kTerms == 3 ? 2 * kStep : kStep;
  static std::int64_t at(std::int64_t step) {
    return kTerms == 3 ? step / 2 * (kTerms * kTerm) + step % 2 * kStep : step * (kTerms * kTerm);
  }
};

// B in f32, split a step ahead of the tiles that read it: instructions of vectors fill what tiles leave free.
struct Split {
  const float* from;
  std::uint16_t* to;
  std::int64_t steps, next = 0;
  bool ring, finite;

  explicit Split(const GemmBf16Tile& t)
      : from(t.whole), to(const_cast<std::uint16_t*>(t.panel)), steps(t.tap_count * t.steps), ring(t.ring), finite(t.finite) {}
  // Rows [first, end) of 32 values of the step whose turn it is.
  void rows(int first, int end) const {
    if (next >= steps) return;
    finite ? rows<true>(first, end) : rows<false>(first, end);
  }

 private:
  template <bool kFinite>
  void rows(int first, int end) const {
    using B = Columns<3>;
    std::uint16_t* const step = to + B::at(ring ? next & 1 : next);
    const float* const values = from + next * B::kStep;
    for (int i = first; i < end; ++i) {
      __m512i term[3];
      split_in_three<kFinite>(_mm512_loadu_ps(values + i * 32), _mm512_loadu_ps(values + i * 32 + 16), term);
      for (int p = 0; p < 3; ++p) _mm512_store_si512(step + p * B::kTerm + i * 32, term[p]);
    }
  }
};

// Two terms make three products, three terms six: those that are as large as an error of the last bit are left out. The terms of rows
// times high columns, the high ones last, for they go on with the other columns.
template <bool kTwoRows, int kTerms, bool kSplits, class Between>
inline void multiply_rows(const GemmBf16Tile& t, float* sums, std::int64_t stride, Between&& between) {
  const std::int64_t bytes = stride * 4;
  if (t.add)
    load_sums<kTwoRows>(sums, stride);
  else
    clear_sums<kTwoRows>();
  const std::uint16_t* b = t.panel;
  GemmBf16Ahead rows = t.rows_ahead, panel = t.panel_ahead;
  if (t.tap_count * t.steps < kFewSteps) {   // one loop: the ends of short ones are hard to predict
    rows.each = rows.lines, panel.each = panel.lines;
    advance(rows);
    advance(panel);
  }
  using B = Columns<kTerms>;
  Split split(t);
  if constexpr (kSplits) split.rows(0, 32), ++split.next;
  for (std::int64_t tap = 0, step = 0; tap < t.tap_count; ++tap) {
    const char *upper = t.a[0] + t.taps[tap], *lower = t.a[kTwoRows ? 1 : 0] + t.taps[tap];
    for (std::int64_t s = 0; s < t.steps; ++s, ++step, upper += kStepBytes, lower += kStepBytes) {
      if constexpr (kTerms == 3) b = t.panel + B::at(kSplits && split.ring ? step & 1 : step);
      const auto split_some = [&](int i) {
        if constexpr (kSplits) split.rows(i * 32 / 6, (i + 1) * 32 / 6);
      };
      load_columns(b);
      for (int term = kTerms - 1; term >= 0; --term) {
        add_products_of<kTwoRows>(t, upper + term * t.low, lower + term * t.low);
        split_some(kTerms - 1 - term);
      }
      for (int term = kTerms - 1; term > 0; --term) {
        load_columns(b + term * B::kTerm);
        add_products<kTwoRows>();
        split_some(2 * kTerms - 1 - term);
      }
      if constexpr (kTerms == 3) add_products_of<kTwoRows>(t, upper + t.low, lower + t.low);
      split_some(5);
      ++split.next;
      b += kTerms * B::kTerm;
      advance(rows);
      advance(panel);
      between();
    }
  }
  _tile_stored(0, sums, bytes);
  _tile_stored(1, sums + kTile, bytes);
  if constexpr (kTwoRows) {
    _tile_stored(2, sums + kTile * stride, bytes);
    _tile_stored(3, sums + kTile * stride + kTile, bytes);
  }
}

// f.template operator()<two tiles of rows, terms, whether columns are split on the way>()
template <class F>
void pick_form(const GemmBf16Tile& t, F&& f) {
  const auto pick = [&]<int kTerms, bool kSplits>() {
    t.a[1] != nullptr ? f.template operator()<true, kTerms, kSplits>() : f.template operator()<false, kTerms, kSplits>();
  };
  if (t.terms == 3)
    t.whole != nullptr ? pick.template operator()<3, true>() : pick.template operator()<3, false>();
  else if (t.terms == 2)
    pick.template operator()<2, false>();
  else
    pick.template operator()<1, false>();
}

void multiply(const GemmBf16Tile& t, float* sums, std::int64_t stride) {
  pick_form(t, [&]<bool kTwoRows, int kTerms, bool kSplits>() { multiply_rows<kTwoRows, kTerms, kSplits>(t, sums, stride, [] {}); });
}

// Of the rows that wait, some get their epilogue in each step of the product of others: their instructions fill what tiles leave free.
// Meanwhile the lines are asked for where the sums of this product will go.
template <bool kTwoRows, int kTerms, bool kSplits, bool kResidual, bool kWide, RowBounds kBounds>
void multiply_beside_epilogue(const GemmBf16Tile& t, const GemmBf16Waiting& own, const GemmBf16Waiting& before) {
  const RowEpilogue<kResidual, kWide, kBounds> earlier(before), later(own);
  std::int64_t row = 0;
  multiply_rows<kTwoRows, kTerms, kSplits>(t, own.sums, GemmBf16Kernels::kColumns, [&] {
    const std::int64_t to = row + t.epilogues_each, stored = std::min(to, before.count), prefetched = std::min(to, own.count);
    for (; row < std::min(prefetched, stored); ++row) later.prefetch(own.rows[row]), earlier(before.rows[row]);
    for (std::int64_t r = row; r < prefetched; ++r) later.prefetch(own.rows[r]);
    for (; row < stored; ++row) earlier(before.rows[row]);
    row = to;
  });
  for (; row < before.count; ++row) earlier(before.rows[row]);   // of a product without steps: its k is 0
}

void multiply_with_epilogue(const GemmBf16Tile& t, const GemmBf16Waiting& own, const GemmBf16Waiting& before) {
  pick_row_epilogue(*own.epilogue, [&]<bool kResidual, bool kWide, RowBounds kBounds>() {
    pick_form(t, [&]<bool kTwoRows, int kTerms, bool kSplits>() {
      multiply_beside_epilogue<kTwoRows, kTerms, kSplits, kResidual, kWide, kBounds>(t, own, before);
    });
  });
}

void epilogue(const GemmBf16Waiting& waiting) {
  pick_row_epilogue(*waiting.epilogue, [&]<bool kResidual, bool kWide, RowBounds kBounds>() {
    const RowEpilogue<kResidual, kWide, kBounds> apply(waiting);
    for (std::int64_t r = 0; r < waiting.count; ++r) apply(waiting.rows[r]);
  });
}

void add_bias(const char* bias, bool wide, float* sums, std::int64_t stride, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t c = 0; c < cols; c += 32) {
    const Pair b = load_pair(wide, lanes32_of(cols - c), bias + c * (wide ? 4 : 2));
    for (std::int64_t r = 0; r < rows; ++r) {
      float* const at = sums + r * stride + c;
      _mm512_storeu_ps(at, _mm512_add_ps(_mm512_loadu_ps(at), b.low));
      _mm512_storeu_ps(at + 16, _mm512_add_ps(_mm512_loadu_ps(at + 16), b.high));
    }
  }
}

}  // namespace

extern "C" const GemmBf16Kernels TENFOLD_TABLE(gemm_bf16) = {enter, leave, copy, multiply, multiply_with_epilogue, epilogue, add_bias};

}  // namespace tenfold::backends::cpu
