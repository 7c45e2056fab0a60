// The bf16 product for few steps of k: one tile of rows times four of columns.
#include "backends/cpu/kernels/gemm/gemm_bf16_strips.h"

#include <algorithm>

#include "backends/cpu/kernels/amx/row_epilogue.h"
#include "backends/cpu/kernels/amx/tile_registers.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

constexpr int kRows = GemmBf16Strip::kRows, kStepBytes = 64, kPanelTile = 512, kTileSums = 256;

// The epilogue's values for 64 columns, which loops keep in registers: an object that lambdas share would be read from memory for each row.
struct Columns {
  Pair first{_mm512_setzero_ps(), _mm512_setzero_ps()}, second{_mm512_setzero_ps(), _mm512_setzero_ps()};
  __m512 lower, upper;
  Columns(const GemmBf16EpilogueArgs& f, std::int64_t column) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    if (const char* const bias = f.bias)
      first = load_pair(false, ~__mmask32{0}, bias + column * 2), second = load_pair(false, ~__mmask32{0}, bias + column * 2 + 64);
    lower = _mm512_set1_ps(f.clamp ? f.low : -kInfinity), upper = _mm512_set1_ps(f.clamp ? f.high : kInfinity);
  }
};

// 32 of its columns: their sums are in two tiles.
template <bool kResidual, RowBounds kBounds>
__attribute__((always_inline)) inline void half_epilogue(const float* sums, const char* residual, char* out, __m512 low, __m512 high,
                                                         __m512 lower, __m512 upper) {
  Pair v{_mm512_add_ps(_mm512_loadu_ps(sums), low), _mm512_add_ps(_mm512_loadu_ps(sums + kTileSums), high)};
  if constexpr (kResidual) {
    const Pair r = load_pair(false, ~__mmask32{0}, residual);
    v = {_mm512_add_ps(v.low, r.low), _mm512_add_ps(v.high, r.high)};
  }
  v = {_mm512_max_ps(lower, v.low), _mm512_max_ps(lower, v.high)};   // keeps NaN
  if constexpr (kBounds == RowBounds::both) v = {_mm512_min_ps(upper, v.low), _mm512_min_ps(upper, v.high)};
  _mm512_storeu_si512(out, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(v.high, v.low)));
}

// All rows of a block, one by one.
template <bool kResidual, RowBounds kBounds>
void row_epilogues(const GemmBf16EpilogueArgs& f, const GemmBf16StripState::Block& block) {
  const Columns e(f, block.column);
  for (std::int64_t r = 0; r < block.count; ++r) {
    const GemmBf16Waiting::Row* const row = block.step == 0 ? block.rows + r : nullptr;
    const float* const sums = block.sums + (row ? row->sums : r * kRows);
    char* const out = row ? row->out + block.column * 2 : block.out + r * block.step;
    const char* residual = out;   // of none nothing is read
    if constexpr (kResidual) residual = row ? row->residual + block.column * 2 : block.residual + r * block.step;
    half_epilogue<kResidual, kBounds>(sums, residual, out, e.first.low, e.first.high, e.lower, e.upper);
    half_epilogue<kResidual, kBounds>(sums + 2 * kTileSums, residual + 64, out + 64, e.second.low, e.second.high, e.lower, e.upper);
  }
}

inline void advance(GemmBf16Ahead& a) {
  const std::int64_t count = std::min(a.each, a.lines);
  for (std::int64_t i = 0; i < count; ++i, a.at += 64) _mm_prefetch(a.at, _MM_HINT_T1);
  a.lines -= count;
}

// What gets its epilogue two blocks later: the rows that are about to be multiplied with a pair of panels.
template <bool kResidual>
void begin(GemmBf16StripState::Block& own, const GemmBf16Strip& t, std::int64_t panel) {
  const GemmBf16Waiting::Row* const first_row = t.rows.table;
  own.rows = first_row, own.count = t.rows.count, own.step = t.rows.step, own.column = panel * 32;
  if (own.step != 0) own.out = first_row->out + panel * 64, own.residual = kResidual ? first_row->residual + panel * 64 : own.out;
}

// Asks for the lines of rows [first, last) of a block; `too`: those of its residual as well.
__attribute__((always_inline)) inline void prefetch(char* out, const char* residual, std::int64_t step, bool too, int first, int last) {
  for (int r = first; r < last; ++r) {
    _m_prefetchw(out + r * step);
    _m_prefetchw(out + r * step + 64);
    if (!too) continue;
    _mm_prefetch(residual + r * step, _MM_HINT_T0);
    _mm_prefetch(residual + r * step + 64, _MM_HINT_T0);
  }
}

// kEpilogues: the steps of a pair of panels in which rows get their epilogue, an equal number behind each multiplication. Tile registers:
// 0-3 sums, 4 rows of A, 6-7 columns of B.
template <bool kResidual, RowBounds kBounds, int kEpilogues>
void multiply_strip(const GemmBf16Strip& t, GemmBf16StripState& s) {
  GemmBf16Ahead rows_ahead = t.rows_ahead, panels_ahead = t.panels_ahead;
  const char* const a = t.a;
  const std::int64_t row_bytes = t.row_bytes, panel_values = t.panel, steps = t.steps;
  for (std::int64_t panel = t.first; panel < t.last; panel += 2) {
    advance(rows_ahead);
    advance(panels_ahead);
    GemmBf16StripState::Block& own = s.block(0);
    const GemmBf16StripState::Block& earlier = s.block(2);
    begin<kResidual>(own, t, panel);
    const Columns e(*s.epilogue, earlier.column);
    const __m512 b0 = e.first.low, b1 = e.first.high, b2 = e.second.low, b3 = e.second.high, lower = e.lower, upper = e.upper;
    const std::int64_t step = earlier.step, own_step = t.rows.step;
    const float* const sums = earlier.sums;
    float* const before = s.block(1).sums;
    if (step == 0) row_epilogues<kResidual, kBounds>(*s.epilogue, earlier);
    char *const out = earlier.out, *const own_out = own.out;
    const char *const residual = earlier.residual, *const own_residual = own.residual;
    const bool prefetches = t.prefetch && own_step != 0, prefetches_residual = kResidual && own_out != own_residual;
    const auto between = [&](int i) __attribute__((always_inline)) {
      constexpr int kRounds = kEpilogues == 8 ? 8 : kEpilogues * 4, kSkip = kEpilogues * 4 / kRounds;
      const int first = i / kSkip * kRows / kRounds, last = (i / kSkip + 1) * kRows / kRounds;
      if (i % kSkip != kSkip - 1) return;
      if (prefetches) prefetch(own_out, own_residual, own_step, prefetches_residual, first, last);
      if (step == 0) return;
      for (int r = first; r < last; ++r) {
        const std::int64_t at = r * step;
        half_epilogue<kResidual, kBounds>(sums + r * 16, residual + at, out + at, b0, b1, lower, upper);
        half_epilogue<kResidual, kBounds>(sums + r * 16 + 2 * kTileSums, residual + at + 64, out + at + 64, b2, b3, lower, upper);
      }
    };
    const std::uint16_t* b = t.panels + panel * panel_values;
    const auto add = [&]<int kSums, int kColumns, bool kFirst>(const std::uint16_t* columns) __attribute__((always_inline)) {
      load_tile<kColumns>(columns, kStepBytes);
      if constexpr (kFirst) {
        store_tile<kSums>(before + kSums * kTileSums, 64);
        zero_tile<kSums>();
      }
      multiply_bf16<kSums, 4, kColumns>();
    };
    const auto multiply = [&]<bool kFirst, bool kEpilogue>(int i) __attribute__((always_inline)) {
      const auto between_some = [&](int n) __attribute__((always_inline)) {
        if constexpr (kEpilogue) between(4 * i + n);
      };
      load_tile<4>(a + t.offsets[i], row_bytes);
      add.template operator()<0, 6, kFirst>(b);
      between_some(0);
      add.template operator()<1, 7, kFirst>(b + kPanelTile);
      between_some(1);
      add.template operator()<2, 6, kFirst>(b + panel_values);
      between_some(2);
      add.template operator()<3, 7, kFirst>(b + panel_values + kPanelTile);
      between_some(3);
      b += 2 * kPanelTile;
    };
    multiply.template operator()<true, true>(0);
#pragma GCC unroll 8
    for (int i = 1; i < kEpilogues; ++i) multiply.template operator()<false, true>(i);
#pragma GCC unroll 1
    for (int i = kEpilogues; i < steps; ++i) multiply.template operator()<false, false>(i);
    ++s.turn;
  }
}

// f<kResidual, kBounds>()
template <class F>
void pick(const GemmBf16EpilogueArgs& f, F&& run) {
  const auto with = [&]<bool kResidual>() {
    if (f.clamp && f.high < std::numeric_limits<float>::infinity())
      run.template operator()<kResidual, RowBounds::both>();
    else
      run.template operator()<kResidual, RowBounds::low>();
  };
  f.residual ? with.template operator()<true>() : with.template operator()<false>();
}

void multiply(const GemmBf16Strip& t, GemmBf16StripState& state) {
  pick(*state.epilogue, [&]<bool kResidual, RowBounds kBounds>() {
    if (t.steps == 8)
      multiply_strip<kResidual, kBounds, 8>(t, state);
    else if (t.steps >= 4)
      multiply_strip<kResidual, kBounds, 4>(t, state);
    else if (t.steps >= 2)
      multiply_strip<kResidual, kBounds, 2>(t, state);
    else
      multiply_strip<kResidual, kBounds, 1>(t, state);
  });
}

void epilogues(GemmBf16StripState& s) {
  float* const sums = s.block(1).sums;
  store_tile<0>(sums, 64);
  store_tile<1>(sums + kTileSums, 64);
  store_tile<2>(sums + 2 * kTileSums, 64);
  store_tile<3>(sums + 3 * kTileSums, 64);
  pick(*s.epilogue, [&]<bool kResidual, RowBounds kBounds>() {
    row_epilogues<kResidual, kBounds>(*s.epilogue, s.block(2));
    row_epilogues<kResidual, kBounds>(*s.epilogue, s.block(1));
  });
}

}  // namespace

extern "C" const GemmBf16Strips TENFOLD_TABLE(gemm_bf16_strips) = {multiply, epilogues};

}  // namespace tenfold::backends::cpu
