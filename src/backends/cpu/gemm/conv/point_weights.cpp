// Packing weights in three terms of bf16.
#include "backends/cpu/gemm/conv/point_weights.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/checked.h"
#include "base/types/half.h"

namespace tenfold::backends::cpu {
namespace {

using Kernels = PointSplitKernels;

// A weight's terms. What is not finite is in the last term alone. Of tiny
// weights the lower terms would be denormal, which tiles take for zero: there these hold the low 16 bits, without an exponent.
struct Terms {
  std::uint16_t of[3] = {};
  static constexpr std::uint32_t kTiny = 24;  // exponents below

  explicit Terms(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (!std::isfinite(value)) {
      of[2] = static_cast<std::uint16_t>(bits >> 16 | (std::isnan(value) ? 0x40 : 0));
    } else if ((bits >> 23 & 0xff) < kTiny) {
      of[0] = static_cast<std::uint16_t>(bits >> 16);
      of[1] = static_cast<std::uint16_t>((bits & 0x8000) | (bits >> 8 & 0x7f));
      of[2] = static_cast<std::uint16_t>((bits & 0x80) << 8 | (bits & 0x7f));
    } else {
      for (std::uint16_t& term : of) {
        term = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
        value -= bf16_to_float(term);
      }
    }
  }
  static float join(std::uint32_t high, std::uint32_t middle, std::uint32_t low) {
    const float last = bf16_to_float(static_cast<std::uint16_t>(low));
    if (!std::isfinite(last)) return last;
    if ((high >> 7 & 0xff) < kTiny)
      return std::bit_cast<float>(high << 16 | (middle & 0x8000) | (middle & 0x7f) << 8 | (low & 0x8000) >> 8 | (low & 0x7f));
    return bf16_to_float(static_cast<std::uint16_t>(high)) + bf16_to_float(static_cast<std::uint16_t>(middle)) + last;
  }
};

// f(where each of a weight's terms lies, its index in [filter][channel])
template <class F>
void for_each_weight(const PointWeights& w, F&& f) {
  const bool stacked = w.channels <= Kernels::kStacked;
  for (std::int64_t column = 0, i = 0; column < w.filters; ++column)
    for (std::int64_t k = 0; k < w.channels; ++k, ++i) {
      const std::int64_t at = column / 16 * Kernels::panel(w.channels) + k / 32 * 1536 + k % 16 * 32 + column % 16 * 2 + k % 32 / 16;
      f(stacked ? std::array{at, at + 1, at + 513} : std::array{at, at + 512, at + 1024}, i);
    }
}

}  // namespace

std::int64_t PointWeights::bytes() const { return ceil_div(filters, Kernels::kPanel) * Kernels::panel(channels) * 2; }

void PointWeights::pack(const float* from, void* packed) const {
  auto* const to = static_cast<std::uint16_t*>(packed);
  std::memset(packed, 0, static_cast<std::size_t>(bytes()));
  for_each_weight(*this, [&](const std::array<std::int64_t, 3>& at, std::int64_t i) {
    const Terms terms(from[i]);
    for (std::size_t term = 0; term < 3; ++term) to[at[term]] = terms.of[term];
    if (channels <= Kernels::kStacked) to[at[0] + 512] = terms.of[0];
  });
}

void PointWeights::unpack(const void* packed, float* to) const {
  const auto* const from = static_cast<const std::uint16_t*>(packed);
  for_each_weight(
      *this, [&](const std::array<std::int64_t, 3>& at, std::int64_t i) { to[i] = Terms::join(from[at[0]], from[at[1]], from[at[2]]); });
}

// Of the heights of tiles for this many rows the one that adds the fewest.
int point_tile_height(std::int64_t rows) {
  std::int64_t best = 16;
  for (std::int64_t height = 15; height >= 12; --height)
    if (ceil_div(rows, height) * height < ceil_div(rows, best) * best) best = height;
  return static_cast<int>(best);
}

}  // namespace tenfold::backends::cpu
