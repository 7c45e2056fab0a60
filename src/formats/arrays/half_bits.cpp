// Rounding to 16 bits.
#include "formats/arrays/half_bits.h"

#include <algorithm>
#include <cmath>

namespace tenfold::formats {
namespace {

// With so many bits of mantissa, and this least exponent of a normal number.
std::uint16_t narrow_bits(double value, int mantissa, int min_exponent) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const int exponent_bits = 15 - mantissa;
  const int infinity = ((1 << exponent_bits) - 1) << mantissa;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | 1 << (mantissa - 1));
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  if (value == 0) return sign;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int power = std::max(exponent - 1, min_exponent);   // of the first bit
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(std::fabs(value), mantissa - power)));   // a carry enlarges the exponent
  const int bits_of = (power - min_exponent) * (1 << mantissa) + steps;
  return static_cast<std::uint16_t>(sign | std::min(bits_of, infinity));
}

}  // namespace

std::uint16_t f16_bits(double value) { return narrow_bits(value, 10, -14); }
std::uint16_t bf16_bits(double value) { return narrow_bits(value, 7, -126); }

}  // namespace tenfold::formats
