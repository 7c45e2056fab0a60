#include "text/transformers/narrow/fp4.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenfold::transformers {
namespace {

constexpr float kLargestE2m1 = 6, kLargestE4m3 = 448;
constexpr float kE2m1[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
constexpr int kBiasE8m0 = 127, kLargestExponentE2m1 = 2;

}  // namespace

std::string_view name(Fp4 kind) { return kind == Fp4::mxfp4 ? "mxfp4" : kind == Fp4::nvfp4 ? "nvfp4" : ""; }

float e2m1_value(std::uint8_t code) { return code & 8 ? -kE2m1[code & 7] : kE2m1[code & 7]; }

std::uint8_t nearest_e2m1(float value) {
  const float size = std::fabs(value);
  const int above = (size > 0.25f) + (size >= 0.75f) + (size > 1.25f) + (size >= 1.75f) + (size > 2.5f) + (size >= 3.5f) + (size > 5);
  return static_cast<std::uint8_t>(above | (value < 0 ? 8 : 0));
}

float scale_value(Fp4 kind, std::uint8_t code) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  if (kind == Fp4::mxfp4) return code == 255 ? kNone : std::ldexp(1.0f, code - kBiasE8m0);
  const int exponent = code >> 3 & 15, fraction = code & 7;
  if (exponent == 15 && fraction == 7) return kNone;
  const float size =
      exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9) : std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
  return code & 128 ? -size : size;
}

std::uint8_t nearest_e4m3(float value) {
  value = std::min(value, kLargestE4m3);
  if (!(value > 0)) return 0;
  const int exponent = std::max(std::ilogb(value), -6);                                  // below are denormal numbers
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(value, 3 - exponent)));  // 16 is the next power of two
  return static_cast<std::uint8_t>(((exponent + 6) << 3) + steps);
}

float global_scale(Fp4 kind, float largest) { return kind == Fp4::mxfp4 || largest == 0 ? 1.0f : kLargestE4m3 * kLargestE2m1 / largest; }

std::uint8_t scale_code(Fp4 kind, float largest, float global) {
  if (kind == Fp4::nvfp4) return std::max<std::uint8_t>(nearest_e4m3(largest / kLargestE2m1 * global), largest > 0 ? 1 : 0);
  const int exponent = largest > 0 ? std::ilogb(largest) - kLargestExponentE2m1 : 0;  // as OCP's specification has it
  return static_cast<std::uint8_t>(std::clamp(exponent + kBiasE8m0, 0, 254));
}

}  // namespace tenfold::transformers
