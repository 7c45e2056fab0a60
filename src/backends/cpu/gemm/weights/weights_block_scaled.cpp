#include "backends/cpu/gemm/weights/weights_block_scaled.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace tenfold::backends::cpu {

int WeightsBlockScaled::shift(std::int64_t k) const {
  const auto i = static_cast<int>(k % of_word());
  return bits_ == 8 || i < 4 ? 8 * i : 8 * (i - 4) + 4;
}

// Half of the range is added to signed values, modulo the range: their highest bit changes.
std::uint32_t WeightsBlockScaled::stored(const Tensor& t, std::int64_t i) const {
  const auto* bytes = static_cast<const std::uint8_t*>(t.raw());
  const std::uint32_t value = bits_ == 8 ? bytes[i] : bytes[i / 2] >> (i % 2 * 4) & 15u;
  return signed_ ? value ^ static_cast<std::uint32_t>(half()) : value;
}

void WeightsBlockScaled::store(Tensor& t, std::int64_t i, std::uint32_t value) const {
  auto& byte = static_cast<std::uint8_t*>(t.mutable_raw())[bits_ == 8 ? i : i / 2];
  if (signed_) value ^= static_cast<std::uint32_t>(half());
  const int shift = bits_ == 8 ? 0 : static_cast<int>(i % 2 * 4);
  const auto mask = static_cast<std::uint8_t>(bits_ == 8 ? 255 : 15 << shift);
  byte = static_cast<std::uint8_t>((byte & ~mask) | (value << shift & mask));
}

void WeightsBlockScaled::pack(const Tensor& values, void* packed) const {
  std::memset(packed, 0, static_cast<std::size_t>(word_bytes()));
  auto* panel = static_cast<std::uint32_t*>(packed);
  for (std::int64_t first = 0; first < n_; first += kPanel, panel += words())
    for (std::int64_t k = 0; k < k_; ++k)
      for (std::int64_t n = first; n < std::min(n_, first + kPanel); ++n)
        panel[k / of_word() * kPanel + n - first] |= stored(values, k * n_ + n) << shift(k);
}

Tensor WeightsBlockScaled::unpack(const void* packed) const {
  Tensor values(type(), {k_, n_});
  const auto* panel = static_cast<const std::uint32_t*>(packed);
  const std::uint32_t mask = bits_ == 8 ? 255 : 15;
  for (std::int64_t first = 0; first < n_; first += kPanel, panel += words())
    for (std::int64_t k = 0; k < k_; ++k)
      for (std::int64_t n = first; n < std::min(n_, first + kPanel); ++n)
        store(values, k * n_ + n, panel[k / of_word() * kPanel + n - first] >> shift(k) & mask);
  return values;
}

template <class Visit>
void WeightsBlockScaled::each_scale(Visit&& visit) const {
  for (std::int64_t b = 0; b < blocks(); ++b)
    for (std::int64_t n = 0; n < n_; ++n) visit(b * n_ + n, n / kPanel * blocks() + b, n % kPanel);
}

void WeightsBlockScaled::pack_scales(const Tensor& scales, void* packed) const {
  std::memset(packed, 0, static_cast<std::size_t>(scale_bytes()));
  const float* from = scales.data<float>();
  each_scale([&](std::int64_t i, std::int64_t block, std::int64_t column) {
    char* const to = static_cast<char*>(packed) + block * kPanel * bytes_of_scale();
    if (!scales_24_) return void(std::memcpy(to + column * 4, from + i, 4));
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(from[i]), rounded = bits + 0x7f + (bits >> 8 & 1);
    const bool finite = std::isfinite(std::bit_cast<float>(rounded & ~0xffu));
    const std::uint32_t kept = finite ? rounded : std::isnan(from[i]) ? bits | 0x400000u : bits;
    const auto upper = static_cast<std::uint16_t>(kept >> 16);
    std::memcpy(to + column * 2, &upper, 2);
    to[kPanel * 2 + column] = static_cast<char>(kept >> 8 & 255);
  });
}

Tensor WeightsBlockScaled::unpack_scales(const void* packed) const {
  Tensor scales(DType::f32, {blocks(), n_});
  float* to = scales.mutable_data<float>();
  each_scale([&](std::int64_t i, std::int64_t block, std::int64_t column) {
    const char* const from = static_cast<const char*>(packed) + block * kPanel * bytes_of_scale();
    if (!scales_24_) return void(std::memcpy(to + i, from + column * 4, 4));
    std::uint16_t upper;
    std::memcpy(&upper, from + column * 2, 2);
    const auto lower = static_cast<std::uint8_t>(from[kPanel * 2 + column]);
    to[i] = std::bit_cast<float>(std::uint32_t{upper} << 16 | std::uint32_t{lower} << 8);
  });
  return scales;
}

template <class Visit>
void WeightsBlockScaled::each_zero(Visit&& visit) const {
  for (std::int64_t b = 0; b < blocks(); ++b) {
    for (std::int64_t n = 0; n < n_; ++n) {
      const std::int64_t column = n % kPanel, block = (n / kPanel * blocks() + b) * zeros_of_block();
      visit(b * n_ + n, block + (bits_ == 8 ? column : column % 8), bits_ == 8 ? 0 : static_cast<int>(column / 8 * 4));
    }
  }
}

void WeightsBlockScaled::pack_zeros(const Tensor& zeros, void* packed) const {
  std::memset(packed, 0, static_cast<std::size_t>(zero_bytes()));
  auto* to = static_cast<std::uint8_t*>(packed);
  each_zero([&](std::int64_t i, std::int64_t byte, int shift) { to[byte] |= static_cast<std::uint8_t>(stored(zeros, i) << shift); });
}

Tensor WeightsBlockScaled::unpack_zeros(const void* packed) const {
  Tensor zeros(type(), {blocks(), n_});
  const auto* from = static_cast<const std::uint8_t*>(packed);
  each_zero([&](std::int64_t i, std::int64_t byte, int shift) { store(zeros, i, from[byte] >> shift & (bits_ == 8 ? 255u : 15u)); });
  return zeros;
}

}  // namespace tenfold::backends::cpu
