#include "backends/cpu/gemm/weights/weights_block_scaled.h"

#include <algorithm>
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

// visit(row, place in the tensor, columns, words of the panel that have the row): neighbors in a line of the cache one behind the other.
template <class Word, class Visit>
void WeightsBlockScaled::each_row(Word* packed, Visit&& visit) const {
  constexpr std::int64_t kSideBySide = 8;   // panels
  for (std::int64_t from = 0; from < panels(); from += kSideBySide)
    for (std::int64_t k = 0; k < k_; ++k)
      for (std::int64_t i = from; i < std::min(panels(), from + kSideBySide); ++i)
        visit(k, k * n_ + i * kPanel, std::min(kPanel, n_ - i * kPanel), packed + i * words() + k / of_word() * kPanel);
}

void WeightsBlockScaled::pack(const Tensor& values, void* packed) const {
  std::memset(packed, 0, static_cast<std::size_t>(word_bytes()));
  const auto* const bytes = static_cast<const std::uint8_t*>(values.raw());
  const auto flip = static_cast<std::uint8_t>(signed_ ? half() : 0);
  each_row(static_cast<std::uint32_t*>(packed), [&](std::int64_t k, std::int64_t at, std::int64_t columns, std::uint32_t* to) {
    std::uint8_t row[kPanel] = {};
    if (columns == kPanel && bits_ == 8)
      for (std::int64_t c = 0; c < kPanel; ++c) row[c] = bytes[at + c] ^ flip;
    else if (columns == kPanel && at % 2 == 0)
      for (std::int64_t c = 0; c < kPanel / 2; ++c)
        row[2 * c] = (bytes[at / 2 + c] & 15) ^ flip, row[2 * c + 1] = static_cast<std::uint8_t>(bytes[at / 2 + c] >> 4) ^ flip;
    else
      for (std::int64_t c = 0; c < columns; ++c) row[c] = static_cast<std::uint8_t>(stored(values, at + c));
    const int by = shift(k);
    for (std::int64_t c = 0; c < kPanel; ++c) to[c] |= std::uint32_t{row[c]} << by;
  });
}

Tensor WeightsBlockScaled::unpack(const void* packed) const {
  Tensor values(type_, {k_, n_});
  auto* const bytes = static_cast<std::uint8_t*>(values.mutable_raw());
  const std::uint32_t mask = bits_ == 8 ? 255 : 15, flip = static_cast<std::uint32_t>(signed_ ? half() : 0);
  const auto* const words = static_cast<const std::uint32_t*>(packed);
  each_row(words, [&](std::int64_t k, std::int64_t at, std::int64_t columns, const std::uint32_t* from) {
    std::uint8_t row[kPanel];
    const int by = shift(k);
    for (std::int64_t c = 0; c < kPanel; ++c) row[c] = static_cast<std::uint8_t>((from[c] >> by & mask) ^ flip);
    if (bits_ == 8)
      std::copy_n(row, columns, bytes + at);
    else if (columns == kPanel && at % 2 == 0)
      for (std::int64_t c = 0; c < kPanel / 2; ++c) bytes[at / 2 + c] = static_cast<std::uint8_t>(row[2 * c] | row[2 * c + 1] << 4);
    else
      for (std::int64_t c = 0; c < columns; ++c) store(values, at + c, row[c] ^ flip);
  });
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
  const auto* const codes = scales.data<char>();
  each_scale([&](std::int64_t i, std::int64_t block, std::int64_t column) {
    char* const to = static_cast<char*>(packed) + block * kPanel * bytes_of_scale();
    if (bytes_of_scale() == 1) return void(to[column] = codes[i]);
    if (scales_ == kF32Scales) return void(std::memcpy(to + column * 4, from + i, 4));
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(from[i]), rounded = bits + 0x7f + (bits >> 8 & 1);
    const bool finite = std::isfinite(std::bit_cast<float>(rounded & ~0xffu));
    const std::uint32_t kept = finite ? rounded : std::isnan(from[i]) ? bits | 0x400000u : bits;
    const auto upper = static_cast<std::uint16_t>(kept >> 16);
    std::memcpy(to + column * 2, &upper, 2);
    to[kPanel * 2 + column] = static_cast<char>(kept >> 8 & 255);
  });
}

Tensor WeightsBlockScaled::unpack_scales(const void* packed) const {
  Tensor scales(scales_ == kE8m0Scales ? DType::f8e8m0 : scales_ == kE4m3Scales ? DType::f8e4m3fn : DType::f32, {blocks(), n_});
  float* to = scales.mutable_data<float>();
  auto* const codes = scales.mutable_data<char>();
  each_scale([&](std::int64_t i, std::int64_t block, std::int64_t column) {
    const char* const from = static_cast<const char*>(packed) + block * kPanel * bytes_of_scale();
    if (bytes_of_scale() == 1) return void(codes[i] = from[column]);
    if (scales_ == kF32Scales) return void(std::memcpy(to + i, from + column * 4, 4));
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
  Tensor zeros(type_, {blocks(), n_});
  const auto* from = static_cast<const std::uint8_t*>(packed);
  each_zero([&](std::int64_t i, std::int64_t byte, int shift) { store(zeros, i, from[byte] >> shift & (bits_ == 8 ? 255u : 15u)); });
  return zeros;
}

}  // namespace tenfold::backends::cpu
