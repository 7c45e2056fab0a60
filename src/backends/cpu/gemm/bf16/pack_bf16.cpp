// f32 as bf16: rounded to nearest even, or as a sum of two. Loops over 32 values that compilers make vectors of.
#include "backends/cpu/gemm/bf16/pack_bf16.h"

#include <cmath>
#include <limits>

#include "base/types/half.h"

namespace tenfold::backends::cpu {
namespace {

// So large that rounding makes it infinite, or not a finite number.
constexpr std::uint32_t kHuge = 0x7f000000;

bool any_huge(const std::uint32_t (&bits)[Bf16Pairs::kValues]) {
  std::uint32_t max = 0;
  for (const std::uint32_t b : bits) max = std::max(max, b & 0x7fffffffu);
  return max >= kHuge;
}
// The bits of a bf16 in the upper half.
std::uint32_t rounded(std::uint32_t bits) { return (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u; }

}  // namespace

std::uint16_t round_to_bf16(float value) { return float_to_bf16(value); }

Bf16Terms split_to_bf16(float value) {
  if (!std::isfinite(value)) return {0, float_to_bf16(value)};
  std::uint16_t high = float_to_bf16(value);
  if (!std::isfinite(bf16_to_float(high))) high = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
  return {high, float_to_bf16(value - bf16_to_float(high))};
}

float join_bf16(Bf16Terms terms) {
  constexpr float kMax = std::numeric_limits<float>::max();
  const float high = bf16_to_float(terms.high), low = bf16_to_float(terms.low), sum = high + low;
  return std::isinf(sum) && std::isfinite(low) ? std::copysign(kMax, sum) : sum;   // a low term that was rounded up
}

void Bf16Pairs::round(std::uint16_t* to) const {
  if (any_huge(bits)) {
    for (int i = 0; i < kValues; ++i) to[i] = round_to_bf16(std::bit_cast<float>(bits[i]));
    return;
  }
  for (int i = 0; i < kValues; ++i) to[i] = static_cast<std::uint16_t>(rounded(bits[i]) >> 16);
}

void Bf16Pairs::split(std::uint16_t* high, std::uint16_t* low) const {
  if (any_huge(bits)) {
    for (int i = 0; i < kValues; ++i) {
      const Bf16Terms terms = split_to_bf16(std::bit_cast<float>(bits[i]));
      high[i] = terms.high, low[i] = terms.low;
    }
    return;
  }
  for (int i = 0; i < kValues; ++i) {
    const std::uint32_t upper = rounded(bits[i]);
    const float rest = std::bit_cast<float>(bits[i]) - std::bit_cast<float>(upper);
    high[i] = static_cast<std::uint16_t>(upper >> 16);
    low[i] = static_cast<std::uint16_t>(rounded(std::bit_cast<std::uint32_t>(rest)) >> 16);
  }
}

}  // namespace tenfold::backends::cpu
