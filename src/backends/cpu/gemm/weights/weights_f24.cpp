#include "backends/cpu/gemm/weights/weights_f24.h"

#include <bit>
#include <cstring>

namespace tenfold::backends::cpu {
namespace {

constexpr std::uint32_t kUpper = 0xffffff00u, kMagnitude = 0x7fffffffu;

// Rounding must neither overflow nor turn a zero into something else: whatever is not zero has a middling exponent.
bool middling(std::uint32_t bits) {
  const std::uint32_t magnitude = bits & kMagnitude;
  return magnitude == 0 || (magnitude >= 0x00800000u && magnitude < 0x7f000000u);
}
std::uint32_t quiet(std::uint32_t bits) { return (bits & kMagnitude) > 0x7f800000u ? bits | 0x00400000u : bits; }

// The upper bits that come closest to `bits` when `below` stands behind them.
std::uint32_t nearest(std::uint32_t bits, std::uint32_t below) {
  return (bits & kMagnitude) == 0 ? bits : (bits - below + 128) & kUpper;
}
// A zero is one whatever stands below it.
std::uint32_t multiplied(std::uint32_t stored, bool masked) {
  return masked || (stored & kMagnitude & kUpper) == 0 ? stored & kUpper : stored;
}

}  // namespace

void WeightsF24::pack(const float* values, void* packed) const {
  std::memset(packed, 0, static_cast<std::size_t>(bytes()));
  bool masked = false;
  for (std::int64_t i = 0; i < k_ * n_; ++i) masked = masked || !middling(std::bit_cast<std::uint32_t>(values[i]));
  *static_cast<std::uint8_t*>(packed) = masked;
  auto* words = reinterpret_cast<std::uint32_t*>(static_cast<char*>(packed) + kHead);
  const auto upper = [&](std::uint32_t bits, std::uint32_t below) { return masked ? bits & kUpper : nearest(bits, below); };
  for (std::int64_t k = 0; k < k_; k += 4) {
    for (std::int64_t n = 0; n < n_; ++n) {
      std::uint32_t bits[4] = {}, *to = words + word(k, n);
      for (std::int64_t i = 0; i < 4 && k + i < k_; ++i) bits[i] = quiet(std::bit_cast<std::uint32_t>(values[(k + i) * n_ + n]));
      const std::uint32_t fourth = upper(bits[3], 0);
      for (int i = 0; i < 3; ++i) {
        const std::uint32_t below = fourth >> (8 * (i + 1)) & 255;
        to[i * panel_] = upper(bits[i], below) | below;
      }
    }
  }
}

void WeightsF24::unpack(const void* packed, float* values) const {
  const auto* words = reinterpret_cast<const std::uint32_t*>(panel_0(packed));
  for (std::int64_t k = 0; k < k_; ++k) {
    for (std::int64_t n = 0; n < n_; ++n) {
      const std::uint32_t* at = words + word(k, n);
      const std::uint32_t fourth = (at[0] & 255) << 8 | (at[panel_] & 255) << 16 | (at[2 * panel_] & 255) << 24;
      const std::uint32_t bits = multiplied(k % 4 < 3 ? at[k % 4 * panel_] : fourth, masked(packed));
      values[k * n_ + n] = std::bit_cast<float>(bits);
    }
  }
}

}  // namespace tenfold::backends::cpu
