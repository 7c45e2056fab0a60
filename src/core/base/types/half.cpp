// Conversions between float and narrow float formats, from the field widths of each format.
#include "base/types/half.h"

#include <cmath>
#include <limits>

namespace tenfold {

float round_to_odd(double value) {
  constexpr int kDropped = 52 - 23;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint32_t>(bits >> 63) << 31;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023 + 127;   // as a float has it
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (exponent == 2047 - 1023 + 127) return std::bit_cast<float>(sign | (fraction ? 0x7fc00000u : 0x7f800000u));
  if (exponent >= 255) return std::bit_cast<float>(sign | 0x7f7fffffu);
  const bool is_normal = exponent > 0;
  const std::uint64_t digits = is_normal ? fraction | static_cast<std::uint64_t>(exponent) << 52 : fraction | std::uint64_t{1} << 52;
  const int shift = is_normal ? kDropped : kDropped + 1 - exponent;
  if (shift > 52) return std::bit_cast<float>(sign | (bits << 1 ? 1u : 0u));   // nearer to zero than the least float
  const bool inexact = (digits & ((std::uint64_t{1} << shift) - 1)) != 0;
  return std::bit_cast<float>(sign | static_cast<std::uint32_t>(digits >> shift) | (inexact ? 1u : 0u));
}

float half_to_float(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000) << 16, magnitude = h & 0x7fff;
  if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ff) << 13);
  if (magnitude >= 0x400) return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
  const float value = static_cast<float>(magnitude) * 0x1p-24f;   // denormal or zero
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

std::uint16_t float_to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<std::uint16_t>(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (magnitude < 0x38800000) {   // below the least normal half: let the float adder round to multiples of 2^-24
    const float scaled = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(scaled) - std::bit_cast<std::uint32_t>(0.5f)));
  }
  const std::uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return static_cast<std::uint16_t>(sign | ((rounded - (112u << 23)) >> 13));
}

float small_to_float(SmallFloat f, std::uint8_t bits) {
  const int total = 1 + f.exponent_bits + f.mantissa_bits;
  const bool negative = bits >> (total - 1) & 1;
  const int mantissa = bits & ((1 << f.mantissa_bits) - 1);
  const int exponent = bits >> f.mantissa_bits & ((1 << f.exponent_bits) - 1);
  const int top = (1 << f.exponent_bits) - 1;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  if (f.unsigned_zero && negative && mantissa == 0 && exponent == 0) return nan;
  if (!f.unsigned_zero && total == 8 && exponent == top) {
    if (f.finite_only && mantissa == (1 << f.mantissa_bits) - 1) return negative ? -nan : nan;
    if (!f.finite_only) {
      if (mantissa) return negative ? -nan : nan;
      return negative ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
    }
  }
  const float fraction = std::ldexp(static_cast<float>(mantissa), -f.mantissa_bits);
  const float value = exponent ? std::ldexp(1.0f + fraction, exponent - f.bias) : std::ldexp(fraction, 1 - f.bias);
  return negative ? -value : value;
}

std::uint8_t float_to_small(SmallFloat f, float value, bool saturate) {
  const int total = 1 + f.exponent_bits + f.mantissa_bits, top = (1 << f.exponent_bits) - 1, ones = (1 << f.mantissa_bits) - 1;
  const std::uint8_t sign_bit = static_cast<std::uint8_t>(1 << (total - 1)), sign = std::signbit(value) ? sign_bit : 0;
  const std::uint8_t nan = f.unsigned_zero ? sign_bit
                           : f.finite_only ? static_cast<std::uint8_t>(sign | top << f.mantissa_bits | ones)
                                           : static_cast<std::uint8_t>(sign | top << f.mantissa_bits | 1 << (f.mantissa_bits - 1));
  if (std::isnan(value)) return total == 8 ? nan : sign_bit;   // no NaN in 4 bits: minus zero, as the ONNX suite has it
  // The largest finite code, counting the codes taken by NaN and infinity.
  const int reserved = total < 8 || f.unsigned_zero ? 0 : f.finite_only ? 1 : 1 << f.mantissa_bits;
  const int largest = (1 << (total - 1)) - 1 - reserved;
  int code;
  if (std::isinf(value)) {
    code = largest + 1;
  } else {
    int exponent;
    const float magnitude = std::fabs(value);
    std::frexp(magnitude, &exponent);
    const int scale_exponent = std::max(exponent - 1, 1 - f.bias);
    // nearbyint rounds half to even in the default rounding mode; a carry into the exponent is the right next code.
    const auto steps = static_cast<long>(std::nearbyint(std::ldexp(magnitude, f.mantissa_bits - scale_exponent)));
    const long base = static_cast<long>(scale_exponent + f.bias - 1) << f.mantissa_bits;
    code = magnitude == 0 ? 0 : static_cast<int>(std::min(base + steps, 1L << 20));
  }
  if (code > largest) {
    if (saturate || total < 8) return static_cast<std::uint8_t>(sign | largest);
    return f.finite_only ? nan : static_cast<std::uint8_t>(sign | top << f.mantissa_bits);
  }
  if (code == 0 && f.unsigned_zero) return 0;
  return static_cast<std::uint8_t>(sign | code);
}

float e8m0_to_float(std::uint8_t bits) {
  return bits == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, bits - 127);
}

std::uint8_t float_to_e8m0(float value) {
  if (std::isnan(value)) return 255;
  if (!(value > 0)) return 0;
  if (std::isinf(value)) return 254;
  int exponent;
  const float fraction = std::frexp(value, &exponent);   // value = fraction * 2^exponent, fraction in [0.5, 1)
  const int nearest = exponent - 1 + (fraction > 0.75f ? 1 : 0) + 127;
  return static_cast<std::uint8_t>(nearest < 0 ? 0 : nearest > 254 ? 254 : nearest);
}

}  // namespace tenfold
