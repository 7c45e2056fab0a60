#include "text/transformers/narrow/write_floats.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tenfold::transformers {
namespace {

std::uint32_t half_of(float value) {
  const std::uint32_t sign = std::bit_cast<std::uint32_t>(value) >> 16 & 0x8000u;
  const float size = std::min(std::fabs(value), 65504.0f);
  if (size < 0x1p-14f) return sign | static_cast<std::uint32_t>(std::nearbyint(size * 0x1p24f));   // denormal
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(size);
  return sign | (((bits + 0xfff + (bits >> 13 & 1)) >> 13) - (112u << 10));
}

}  // namespace

std::uint32_t bits_of(float value, DType type) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (type == DType::f32) return bits;
  return type == DType::f16 ? half_of(value) : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

}  // namespace tenfold::transformers
