// The bf16 product with AMX: two tiles of rows times two of columns keep four accumulators busy.
#include "backends/cpu/kernels/product/gemm_bf16.h"

#include <immintrin.h>

#include <algorithm>

#include "backends/cpu/kernels/amx/row_end.h"
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

template <int kParts>
void split_rows(const Bf16Copy& c) {
  const char* from = c.from;
  char* to = c.to;
  for (std::int64_t r = 0; r < c.rows; ++r, from += c.from_bytes, to += c.to_bytes) {
    for (std::int64_t at = 0; at < c.padded; at += 32) {
      const __mmask32 lanes = lanes32_of(c.padded - at), known = lanes32_of(c.count - at);
      const __m512 first = _mm512_maskz_loadu_ps(static_cast<__mmask16>(known), from + at * 4);
      const __m512 second = _mm512_maskz_loadu_ps(static_cast<__mmask16>(known >> 16), from + at * 4 + 64);
      __m512i part[kParts];
      if constexpr (kParts == 2)
        round_in_two(first, second, part);
      else
        cut_in_three(first, second, part);
      for (int i = 0; i < kParts; ++i) _mm512_mask_storeu_epi16(to + at * 2 + i * c.low, lanes, part[i]);
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
  if (c.wide && c.parts == 3)
    split_rows<3>(c);
  else if (c.wide && c.parts == 2)
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

// Where a step of B begins, and its next part: parts of two steps take turns (GemmBf16Tile::whole).
template <int kParts>
struct Columns {
  static constexpr std::int64_t kStep = 2 * kPanelTile, kPart = kParts == 3 ? 2 * kStep : kStep;
  static std::int64_t at(std::int64_t step) {
    return kParts == 3 ? step / 2 * (kParts * kPart) + step % 2 * kStep : step * (kParts * kPart);
  }
};

// B in f32, cut a step ahead of the tiles that read it: instructions of vectors fill what tiles leave free.
struct Cut {
  const float* from;
  std::uint16_t* to;
  std::int64_t steps, next = 0;
  bool ring, finite;

  explicit Cut(const GemmBf16Tile& t)
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
      __m512i part[3];
      cut_in_three<kFinite>(_mm512_loadu_ps(values + i * 32), _mm512_loadu_ps(values + i * 32 + 16), part);
      for (int p = 0; p < 3; ++p) _mm512_store_si512(step + p * B::kPart + i * 32, part[p]);
    }
  }
};

// Two parts make three products, three parts six: those that are as large as an error of the last bit are left out. The parts of rows
// times high columns, the high ones last, for they go on with the other columns.
template <bool kTwoRows, int kParts, bool kCuts, class Between>
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
  using B = Columns<kParts>;
  Cut cut(t);
  if constexpr (kCuts) cut.rows(0, 32), ++cut.next;
  for (std::int64_t tap = 0, step = 0; tap < t.tap_count; ++tap) {
    const char *upper = t.a[0] + t.taps[tap], *lower = t.a[kTwoRows ? 1 : 0] + t.taps[tap];
    for (std::int64_t s = 0; s < t.steps; ++s, ++step, upper += kStepBytes, lower += kStepBytes) {
      if constexpr (kParts == 3) b = t.panel + B::at(kCuts && cut.ring ? step & 1 : step);
      const auto cut_some = [&](int i) {
        if constexpr (kCuts) cut.rows(i * 32 / 6, (i + 1) * 32 / 6);
      };
      load_columns(b);
      for (int part = kParts - 1; part >= 0; --part) {
        add_products_of<kTwoRows>(t, upper + part * t.low, lower + part * t.low);
        cut_some(kParts - 1 - part);
      }
      for (int part = kParts - 1; part > 0; --part) {
        load_columns(b + part * B::kPart);
        add_products<kTwoRows>();
        cut_some(2 * kParts - 1 - part);
      }
      if constexpr (kParts == 3) add_products_of<kTwoRows>(t, upper + t.low, lower + t.low);
      cut_some(5);
      ++cut.next;
      b += kParts * B::kPart;
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

// f.template operator()<two tiles of rows, parts, whether columns are cut on the way>()
template <class F>
void pick_form(const GemmBf16Tile& t, F&& f) {
  const auto pick = [&]<int kParts, bool kCuts>() {
    t.a[1] != nullptr ? f.template operator()<true, kParts, kCuts>() : f.template operator()<false, kParts, kCuts>();
  };
  if (t.parts == 3)
    t.whole != nullptr ? pick.template operator()<3, true>() : pick.template operator()<3, false>();
  else if (t.parts == 2)
    pick.template operator()<2, false>();
  else
    pick.template operator()<1, false>();
}

void multiply(const GemmBf16Tile& t, float* sums, std::int64_t stride) {
  pick_form(t, [&]<bool kTwoRows, int kParts, bool kCuts>() { multiply_rows<kTwoRows, kParts, kCuts>(t, sums, stride, [] {}); });
}

// Of the rows that wait, some end in each step of the product of others: their instructions fill what tiles leave free. Meanwhile the
// lines are asked for where the sums of this product will go.
template <bool kTwoRows, int kParts, bool kCuts, bool kResidual, bool kWide, RowBounds kBounds>
void multiply_ending(const GemmBf16Tile& t, const GemmBf16Waiting& own, const GemmBf16Waiting& before) {
  const RowEnd<kResidual, kWide, kBounds> end(before), later(own);
  std::int64_t row = 0;
  multiply_rows<kTwoRows, kParts, kCuts>(t, own.sums, GemmBf16Kernels::kColumns, [&] {
    const std::int64_t to = row + t.ends_each, ended = std::min(to, before.count), asked = std::min(to, own.count);
    for (; row < std::min(asked, ended); ++row) later.ask(own.rows[row]), end(before.rows[row]);
    for (std::int64_t r = row; r < asked; ++r) later.ask(own.rows[r]);
    for (; row < ended; ++row) end(before.rows[row]);
    row = to;
  });
  for (; row < before.count; ++row) end(before.rows[row]);   // of a product without steps: its k is 0
}

void multiply_and_end(const GemmBf16Tile& t, const GemmBf16Waiting& own, const GemmBf16Waiting& before) {
  pick_row_end(*own.finish, [&]<bool kResidual, bool kWide, RowBounds kBounds>() {
    pick_form(t, [&]<bool kTwoRows, int kParts, bool kCuts>() {
      multiply_ending<kTwoRows, kParts, kCuts, kResidual, kWide, kBounds>(t, own, before);
    });
  });
}

void end(const GemmBf16Waiting& waiting) {
  pick_row_end(*waiting.finish, [&]<bool kResidual, bool kWide, RowBounds kBounds>() {
    const RowEnd<kResidual, kWide, kBounds> end(waiting);
    for (std::int64_t r = 0; r < waiting.count; ++r) end(waiting.rows[r]);
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

extern "C" const GemmBf16Kernels TENFOLD_TABLE(gemm_bf16) = {enter, leave, copy, multiply, multiply_and_end, end, add_bias};

}  // namespace tenfold::backends::cpu
