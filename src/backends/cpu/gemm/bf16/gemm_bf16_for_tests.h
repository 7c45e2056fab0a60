// Portable kernels in place of AMX's, value by value: with them the loops of bf16 products run on any CPU.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "backends/cpu/cpu_info.h"
#include "backends/cpu/gemm/bf16/gemm_bf16_kernels.h"
#include "backends/cpu/gemm/bf16/pack_bf16.h"
#include "base/types/half.h"

namespace tenfold::backends::cpu::portable {

inline bool entered = false;   // whether tile registers are set up
inline void enter() { EXPECT_FALSE(std::exchange(entered, true)); }
inline void leave() { EXPECT_TRUE(std::exchange(entered, false)); }

inline std::uint16_t upper_half(float v) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(v) >> 16); }
// As kernels/amx/split.h: what is not finite is in the last term alone.
inline void split_in_three(float v, std::uint16_t* term, std::int64_t step) {
  const bool finite = std::isfinite(v);
  for (int i = 0; i < 3; ++i) {
    term[i * step] = finite || i == 2 ? upper_half(v) : std::uint16_t{0};
    v -= bf16_to_float(term[i * step]);
  }
}

inline void copy(const Bf16Copy& c) {
  for (std::int64_t r = 0; r < c.rows; ++r)
    for (std::int64_t i = 0; i < c.padded; ++i) {
      auto* const to = reinterpret_cast<std::uint16_t*>(c.to + r * c.to_bytes) + i;
      const char* const from = c.from + r * c.from_bytes + i * (c.wide ? 4 : 2);
      float wide = 0;
      std::uint16_t narrow = 0;
      if (i < c.count) c.wide ? std::memcpy(&wide, from, 4) : std::memcpy(&narrow, from, 2);
      if (!c.wide) *to = narrow;
      else if (c.terms == 3) split_in_three(wide, to, c.low / 2);
      else if (c.terms == 2) to[0] = split_to_bf16(wide).high, to[c.low / 2] = split_to_bf16(wide).low;
      else *to = round_to_bf16(wide);
    }
}

// 32 values of k in kColumns columns, 16 in each tile of B.
template <int kColumns>
struct Step {
  double values[32][kColumns] = {};
  void add(int column, const std::uint16_t* tile) {   // one more term of 16 columns
    for (int k = 0; k < 32; ++k)
      for (int j = 0; j < 16; ++j) values[k][column + j] += double{bf16_to_float(tile[k / 2 * 32 + j * 2 + k % 2])};
  }
  void add_row(const char* a, double* sums) const {
    for (int k = 0; k < 32; ++k) {
      std::uint16_t bits;
      std::memcpy(&bits, a + k * 2, 2);
      const double v = bf16_to_float(bits);
      for (int j = 0; j < kColumns; ++j) sums[j] += v * values[k][j];
    }
  }
};

// Where a step of B begins, and its next term (GemmBf16Tile::whole).
inline std::int64_t step_at(int terms, std::int64_t step) { return terms == 3 ? step / 2 * 6144 + step % 2 * 1024 : step * terms * 1024; }

inline void multiply(const GemmBf16Tile& t, float* sums, std::int64_t stride) {
  EXPECT_TRUE(entered) << "tile registers are not set up";
  const int rows = t.a[1] ? 32 : 16;
  const std::int64_t term = t.terms == 3 ? 2048 : 1024;
  double c[32][32] = {};
  for (int r = 0; t.add && r < rows; ++r) std::copy_n(sums + r * stride, 32, c[r]);
  for (std::int64_t tap = 0, step = 0; tap < t.tap_count; ++tap)
    for (std::int64_t s = 0; s < t.steps; ++s, ++step) {
      const std::uint16_t* const b = t.panel + step_at(t.terms, t.ring ? step % 2 : step);
      for (int i = 0; t.whole && i < 1024; ++i) split_in_three(t.whole[step * 1024 + i], const_cast<std::uint16_t*>(b) + i, term);
      // The lowest term of a row meets the highest one of a column alone, and so on.
      Step<32> columns;
      for (int i = t.terms - 1; i >= 0; --i) {
        for (int tile = 0; tile < 2; ++tile) columns.add(tile * 16, b + (t.terms - 1 - i) * term + tile * 512);
        for (int r = 0; r < rows; ++r)
          columns.add_row(t.a[r / 16] + t.taps[tap] + s * 64 + r % 16 * t.row_bytes[r / 16] + i * t.low, c[r]);
      }
    }
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < 32; ++j) sums[r * stride + j] = static_cast<float>(c[r][j]);
}

inline float load(const char* from, std::int64_t i, bool wide) {
  float value;
  std::uint16_t bits;
  if (wide) return std::memcpy(&value, from + i * 4, 4), value;
  return std::memcpy(&bits, from + i * 2, 2), bf16_to_float(bits);
}
// Columns [column, column + columns) of a row of C; sum(j): that of the j-th of them.
template <class Sum>
void end_row(const GemmBf16EpilogueArgs& f, std::int64_t column, std::int64_t columns, Sum&& sum, const char* residual, char* out) {
  for (std::int64_t j = 0; j < columns; ++j) {
    float v = sum(j);
    if (f.bias) v += load(f.bias, column + j, f.bias_wide);
    if (f.residual) v += load(residual, column + j, f.residual_wide);
    if (f.clamp) v = v < f.low ? f.low : v > f.high ? f.high : v;   // keeps NaN
    if (f.gelu) v = 0.5f * v * (1 + std::erf(v * 0.70710678f));
    const std::uint16_t bits = round_to_bf16(v);
    f.out_wide ? std::memcpy(out + (column + j) * 4, &v, 4) : std::memcpy(out + (column + j) * 2, &bits, 2);
  }
}

inline void epilogue(const GemmBf16Waiting& w) {
  for (std::int64_t r = 0; r < w.count; ++r)
    end_row(
        *w.epilogue, w.column, w.columns, [&](std::int64_t j) { return w.sums[w.rows[r].sums + j]; }, w.rows[r].residual, w.rows[r].out);
}
// Sums that wait must outlive the product that comes meanwhile: so they are used behind it.
inline void multiply_with_epilogue(const GemmBf16Tile& t, const GemmBf16Waiting& own, const GemmBf16Waiting& before) {
  multiply(t, own.sums, GemmBf16Kernels::kColumns);
  epilogue(before);
}
inline void add_bias(const char* bias, bool wide, float* sums, std::int64_t stride, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < cols; ++j) sums[r * stride + j] += load(bias, j, wide);
}

inline float registers[GemmBf16StripState::kBlock];   // the sums of a strip: [tile of 16 columns][row][column]

inline void end_block(const GemmBf16EpilogueArgs& f, const GemmBf16StripState::Block& b) {
  for (std::int64_t r = 0; r < b.count; ++r) {
    const std::int64_t sums = b.step == 0 ? b.rows[r].sums : r * 16;
    char* const out = b.step == 0 ? b.rows[r].out : b.rows->out + r * b.step;
    const char* const residual = b.step == 0 ? b.rows[r].residual : b.rows->residual + r * b.step;
    end_row(f, b.column, 64, [&](std::int64_t j) { return b.sums[j / 16 * 256 + sums + j % 16]; }, residual, out);
  }
}
inline void multiply_strip(const GemmBf16Strip& t, GemmBf16StripState& s) {
  EXPECT_TRUE(entered) << "tile registers are not set up";
  EXPECT_TRUE(t.steps > 0 && t.steps <= GemmBf16Strip::kMaxSteps);
  for (std::int64_t panel = t.first; panel < t.last; panel += 2, ++s.turn) {
    s.block(0).rows = t.rows.table, s.block(0).count = t.rows.count, s.block(0).step = t.rows.step, s.block(0).column = panel * 32;
    end_block(*s.epilogue, s.block(2));
    std::memcpy(s.block(1).sums, registers, sizeof registers);
    double c[16][64] = {};
    for (std::int64_t step = 0; step < t.steps; ++step) {
      const std::uint16_t* const b = t.panels + panel * t.panel + step * 1024;
      Step<64> columns;
      for (int tile = 0; tile < 4; ++tile) columns.add(tile * 16, b + tile / 2 * t.panel + tile % 2 * 512);
      for (int r = 0; r < 16; ++r) columns.add_row(t.a + t.offsets[step] + r * t.row_bytes, c[r]);
    }
    for (int r = 0; r < 16; ++r)
      for (int j = 0; j < 64; ++j) registers[j / 16 * 256 + r * 16 + j % 16] = static_cast<float>(c[r][j]);
  }
}
inline void strip_epilogues(GemmBf16StripState& s) {
  std::memcpy(s.block(1).sums, registers, sizeof registers);
  end_block(*s.epilogue, s.block(2));
  end_block(*s.epilogue, s.block(1));
}

inline constexpr GemmBf16Kernels kTiles = {enter, leave, copy, multiply, multiply_with_epilogue, epilogue, add_bias};
inline constexpr GemmBf16Strips kStrips = {multiply_strip, strip_epilogues};

// They take AMX's place while this lives.
class InPlaceOfAmx {
 public:
  InPlaceOfAmx() { gemm_bf16_tables = {&kTiles, &kStrips}; }
  ~InPlaceOfAmx() { gemm_bf16_tables = {}; }
  InPlaceOfAmx(const InPlaceOfAmx&) = delete;
  InPlaceOfAmx& operator=(const InPlaceOfAmx&) = delete;
};

}  // namespace tenfold::backends::cpu::portable

namespace tenfold::backends::testing {

// For tests of tactics that have no other kernels: those of AMX if this CPU has it, else portable ones.
class AmxOrPortable {
 public:
  AmxOrPortable() {
    if ((cpu::this_cpu().features & kAmxBf16) == 0) portable_.emplace();
  }
  static std::uint32_t features() { return cpu::this_cpu().features | kAmxBf16; }

 private:
  std::optional<cpu::portable::InPlaceOfAmx> portable_;
};

}  // namespace tenfold::backends::testing
