// Bit-exact conversions between float and the narrow float formats (IEEE half, bfloat16, OCP 8-bit and 4-bit floats).
#pragma once

#include <bit>
#include <cstdint>

namespace tenfold {

// The float next to `value` on the side of zero, its last bit set where the two differ: rounded once more, to a format of at most 22
// significant bits or to a power of two, it gives what `value` gives directly. (float)value does not: it may round onto a tie.
// Whatever the calling thread's floating-point state.
float round_to_odd(double value);
float half_to_float(std::uint16_t bits);
std::uint16_t float_to_half(float value);             // round to nearest even, overflow to infinity
inline float bf16_to_float(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
inline std::uint16_t float_to_bf16(float value) {      // round to nearest even, NaN stays NaN
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t nan = bits >> 16 | 0x40, rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return static_cast<std::uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

// An 8-bit or 4-bit float format by its fields. `finite_only`: no infinities; `unsigned_zero`: 0x80 is NaN.
struct SmallFloat {
  int exponent_bits, mantissa_bits, bias;
  bool finite_only, unsigned_zero;
};
inline constexpr SmallFloat kE4M3FN{4, 3, 7, true, false}, kE4M3FNUZ{4, 3, 8, true, true}, kE5M2{5, 2, 15, false, false},
    kE5M2FNUZ{5, 2, 16, true, true}, kE2M1{2, 1, 1, true, false};
float small_to_float(SmallFloat format, std::uint8_t bits);
std::uint8_t float_to_small(SmallFloat format, float value, bool saturate = true);   // nearest even
float e8m0_to_float(std::uint8_t bits);
std::uint8_t float_to_e8m0(float value);

}  // namespace tenfold
