// The meaning of every unary and binary Body primitive on one double or one int64.
#include "ops/body_prims.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace tenfold::ops {
namespace {

using ir::Prim;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double sigmoid(double x) {
  const double e = std::exp(-std::fabs(x));   // never overflows
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

}  // namespace

double real_unary(Prim prim, double x) {
  switch (prim) {
    case Prim::neg: return -x;
    case Prim::abs: return std::fabs(x);
    case Prim::sign: return std::isnan(x) ? x : static_cast<double>((x > 0) - (x < 0));
    case Prim::sqrt: return std::sqrt(x);
    case Prim::rsqrt: return 1 / std::sqrt(x);
    case Prim::reciprocal: return 1 / x;
    case Prim::exp: return std::exp(x);
    case Prim::log: return std::log(x);
    case Prim::erf: return std::erf(x);
    case Prim::tanh: return std::tanh(x);
    case Prim::sigmoid: return sigmoid(x);
    case Prim::floor: return std::floor(x);
    case Prim::ceil: return std::ceil(x);
    case Prim::round_even: return std::nearbyint(x);
    case Prim::sin: return std::sin(x);
    case Prim::cos: return std::cos(x);
    case Prim::tan: return std::tan(x);
    case Prim::asin: return std::asin(x);
    case Prim::acos: return std::acos(x);
    case Prim::atan: return std::atan(x);
    case Prim::sinh: return std::sinh(x);
    case Prim::cosh: return std::cosh(x);
    case Prim::asinh: return std::asinh(x);
    case Prim::acosh: return std::acosh(x);
    case Prim::atanh: return std::atanh(x);
    default: check(false, "primitive ", ir::name(prim), " has no meaning for floats");
  }
  return 0;
}

namespace {
double python_mod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

}  // namespace

double real_binary(Prim prim, double a, double b) {
  switch (prim) {
    case Prim::add: return a + b;
    case Prim::sub: return a - b;
    case Prim::mul: return a * b;
    case Prim::div: return a / b;
    case Prim::pow: return std::pow(a, b);
    case Prim::min: return std::isnan(a) || std::isnan(b) ? kNan : std::min(a, b);
    case Prim::max: return std::isnan(a) || std::isnan(b) ? kNan : std::max(a, b);
    case Prim::mod: return python_mod(a, b);
    case Prim::fmod: return std::fmod(a, b);
    default: check(false, "primitive ", ir::name(prim), " has no meaning for floats");
  }
  return 0;
}

namespace {
std::uint64_t bits_of(std::int64_t x) { return static_cast<std::uint64_t>(x); }
std::int64_t from_bits(std::uint64_t x) { return static_cast<std::int64_t>(x); }

}  // namespace

std::int64_t whole_unary(Prim prim, DType dtype, std::int64_t x) {
  const bool is_negative = dtype != DType::u64 && x < 0;
  switch (prim) {
    case Prim::neg: return from_bits(0 - bits_of(x));
    case Prim::abs: return is_negative ? from_bits(0 - bits_of(x)) : x;
    case Prim::sign: return is_negative ? -1 : x != 0;
    case Prim::floor: case Prim::ceil: case Prim::round_even: return x;
    case Prim::logical_not: return x == 0;
    case Prim::bit_not: return ~x;
    default: check(false, "primitive ", ir::name(prim), " has no meaning for integers");
  }
  return 0;
}

namespace {
// Powers modulo 2^64; a negative exponent gives the real quotient truncated towards zero.
std::int64_t whole_pow(std::int64_t base, std::int64_t exponent, bool is_unsigned) {
  if (!is_unsigned && exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  std::uint64_t result = 1, square = bits_of(base);
  for (std::uint64_t rest = bits_of(exponent); rest; rest >>= 1, square *= square) {
    if (rest & 1) result *= square;
  }
  return from_bits(result);
}

// ONNX leaves division by zero open; here it gives 0, as numpy does. The least integer divided by -1 wraps.
std::int64_t whole_divide(Prim prim, std::int64_t a, std::int64_t b, bool is_unsigned) {
  if (b == 0) return 0;
  if (is_unsigned) return from_bits(prim == Prim::div ? bits_of(a) / bits_of(b) : bits_of(a) % bits_of(b));
  if (b == -1) return prim == Prim::div ? from_bits(0 - bits_of(a)) : 0;
  if (prim == Prim::div) return a / b;
  const std::int64_t r = a % b;
  return prim == Prim::mod && r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

std::int64_t whole_shift(Prim prim, DType dtype, std::int64_t a, std::int64_t b) {
  const bool is_out = b < 0 || b >= bits(dtype);   // more bits than there are: nothing of the value is left
  if (prim == Prim::shift_left) return is_out ? 0 : from_bits(bits_of(a) << b);
  if (dtype == DType::u64) return is_out ? 0 : from_bits(bits_of(a) >> b);
  return is_out ? (a < 0 ? -1 : 0) : a >> b;
}

}  // namespace

std::int64_t whole_binary(Prim prim, DType dtype, std::int64_t a, std::int64_t b) {
  const bool is_unsigned = dtype == DType::u64;
  const bool is_less = is_unsigned ? bits_of(a) < bits_of(b) : a < b;
  switch (prim) {
    case Prim::add: return from_bits(bits_of(a) + bits_of(b));
    case Prim::sub: return from_bits(bits_of(a) - bits_of(b));
    case Prim::mul: return from_bits(bits_of(a) * bits_of(b));
    case Prim::div: case Prim::mod: case Prim::fmod: return whole_divide(prim, a, b, is_unsigned);
    case Prim::pow: return whole_pow(a, b, is_unsigned);
    case Prim::min: return is_less ? a : b;
    case Prim::max: return is_less ? b : a;
    case Prim::bit_and: case Prim::logical_and: return a & b;
    case Prim::bit_or: case Prim::logical_or: return a | b;
    case Prim::bit_xor: case Prim::logical_xor: return a ^ b;
    case Prim::shift_left: case Prim::shift_right: return whole_shift(prim, dtype, a, b);
    default: check(false, "primitive ", ir::name(prim), " has no meaning for integers");
  }
  return 0;
}

bool is_signed(DType integer) {
  switch (integer) {
    case DType::i64: case DType::i32: case DType::i16: case DType::i8: case DType::i4: case DType::i2: return true;
    default: return false;
  }
}

std::int64_t min_integer(DType type) { return is_signed(type) ? static_cast<std::int64_t>(~std::uint64_t{0} << (bits(type) - 1)) : 0; }

std::int64_t max_integer(DType type) {
  if (type == DType::boolean) return 1;
  const int magnitude = bits(type) - (is_signed(type) ? 1 : 0);
  return magnitude == 64 ? -1 : from_bits((std::uint64_t{1} << magnitude) - 1);
}

}  // namespace tenfold::ops
