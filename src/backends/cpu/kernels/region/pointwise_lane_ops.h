// What each primitive makes of single values, of every lane type: plain C++, with the C library's functions.
#pragma once

#include <cmath>
#include <type_traits>

#include "backends/cpu/kernels/region/pointwise.h"

namespace tenfold::backends::cpu {
namespace {

template <class T>
constexpr bool kFloat = std::is_floating_point_v<T>;
template <class T>
constexpr bool kSigned = std::is_signed_v<T>;
// Integers wrap: arithmetic happens in the unsigned type.
template <class T, bool = std::is_integral_v<T>>
struct WideOf {
  using type = std::make_unsigned_t<T>;
};
template <class T>
struct WideOf<T, false> {
  using type = T;
};
template <class T>
using Wide = typename WideOf<T>::type;
template <class T>
inline Wide<T> wide(T x) {
  return static_cast<Wide<T>>(x);
}
template <class T, class W>
inline T narrow(W x) {
  return static_cast<T>(x);
}

template <Op kOp, class T>
inline T unary_of(T x) {
  if constexpr (kOp == Op::neg)
    return kFloat<T> ? -x : narrow<T>(Wide<T>(0) - wide(x));
  else if constexpr (kOp == Op::abs) {
    if constexpr (kFloat<T>)
      return std::fabs(x);
    else
      return kSigned<T> && x < T(0) ? narrow<T>(Wide<T>(0) - wide(x)) : x;
  } else if constexpr (kOp == Op::sign) {
    if constexpr (kFloat<T>)
      return x != x ? x : static_cast<T>((x > 0) - (x < 0));
    else
      return static_cast<T>((x > T(0)) - (x < T(0)));
  } else if constexpr (kOp == Op::bit_not)
    return narrow<T>(~wide(x));
  else if constexpr (kOp == Op::sqrt)
    return std::sqrt(x);
  else if constexpr (kOp == Op::rsqrt)
    return 1 / std::sqrt(x);
  else if constexpr (kOp == Op::reciprocal)
    return 1 / x;
  else if constexpr (kOp == Op::exp)
    return std::exp(x);
  else if constexpr (kOp == Op::log)
    return std::log(x);
  else if constexpr (kOp == Op::erf)
    return std::erf(x);
  else if constexpr (kOp == Op::tanh)
    return std::tanh(x);
  else if constexpr (kOp == Op::sigmoid)
    return 1 / (1 + std::exp(-x));
  else if constexpr (kOp == Op::floor)
    return kFloat<T> ? static_cast<T>(std::floor(x)) : x;
  else if constexpr (kOp == Op::ceil)
    return kFloat<T> ? static_cast<T>(std::ceil(x)) : x;
  else if constexpr (kOp == Op::round_even)
    return kFloat<T> ? static_cast<T>(std::nearbyint(x)) : x;
  else if constexpr (kOp == Op::sin)
    return std::sin(x);
  else if constexpr (kOp == Op::cos)
    return std::cos(x);
  else if constexpr (kOp == Op::tan)
    return std::tan(x);
  else if constexpr (kOp == Op::asin)
    return std::asin(x);
  else if constexpr (kOp == Op::acos)
    return std::acos(x);
  else if constexpr (kOp == Op::atan)
    return std::atan(x);
  else if constexpr (kOp == Op::sinh)
    return std::sinh(x);
  else if constexpr (kOp == Op::cosh)
    return std::cosh(x);
  else if constexpr (kOp == Op::asinh)
    return std::asinh(x);
  else if constexpr (kOp == Op::acosh)
    return std::acosh(x);
  else
    return std::atanh(x);
}
template <Op kOp, class T>
inline bool test_of(T x) {
  if constexpr (kOp == Op::logical_not)
    return x == T(0);
  else if constexpr (!kFloat<T>)
    return false;
  else if constexpr (kOp == Op::is_nan)
    return x != x;
  else
    return std::fabs(x) == static_cast<T>(INFINITY);
}

// Quotients of integers: by zero 0, the least value by -1 wraps. mod takes the divisor's sign, fmod the dividend's.
template <Op kOp, class T>
inline T divide(T a, T b) {
  if (b == T(0)) return T(0);
  if constexpr (kSigned<T>) {
    if (b == T(-1)) return kOp == Op::div ? narrow<T>(Wide<T>(0) - wide(a)) : T(0);
  }
  if constexpr (kOp == Op::div) return static_cast<T>(a / b);
  const T r = static_cast<T>(a % b);
  if constexpr (kOp == Op::mod && kSigned<T>) return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
  return r;
}
template <class T>
inline T power(T base, T exponent) {
  if constexpr (kFloat<T>) {
    return std::pow(base, exponent);
  } else {
    if (kSigned<T> && exponent < T(0)) return base == T(1) ? T(1) : base == T(-1) ? (exponent % 2 ? T(-1) : T(1)) : T(0);
    std::uint64_t result = 1, square = static_cast<std::uint64_t>(base);
    for (std::uint64_t rest = static_cast<std::uint64_t>(exponent); rest; rest >>= 1, square *= square)
      if (rest & 1) result *= square;
    return static_cast<T>(result);
  }
}
template <Op kOp, class T>
inline T shift(T a, T b) {
  constexpr int kBits = static_cast<int>(sizeof(T)) * 8;
  const bool out = (kSigned<T> && b < T(0)) || wide(b) >= static_cast<Wide<T>>(kBits);
  if constexpr (kOp == Op::shift_left)
    return out ? T(0) : narrow<T>(static_cast<std::uint64_t>(wide(a)) << wide(b));
  else
    return out ? (kSigned<T> && a < T(0) ? T(-1) : T(0)) : static_cast<T>(a >> wide(b));
}
template <Op kOp, class T>
inline T binary_of(T a, T b) {
  if constexpr (kOp == Op::add)
    return narrow<T>(wide(a) + wide(b));
  else if constexpr (kOp == Op::sub)
    return narrow<T>(wide(a) - wide(b));
  else if constexpr (kOp == Op::mul) {
    if constexpr (kFloat<T>)
      return a * b;
    else
      return static_cast<T>(static_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(a) *
                            static_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(b));
  } else if constexpr (kOp == Op::div) {
    if constexpr (kFloat<T>)
      return a / b;
    else
      return divide<Op::div>(a, b);
  } else if constexpr (kOp == Op::mod || kOp == Op::fmod) {
    if constexpr (kFloat<T>) {
      const T r = std::fmod(a, b);
      return kOp == Op::mod && r != 0 && (r < 0) != (b < 0) ? r + b : r;
    } else
      return divide<kOp>(a, b);
  } else if constexpr (kOp == Op::pow)
    return power(a, b);
  else if constexpr (kOp == Op::min)
    return kFloat<T> ? (a != a || a < b ? a : b) : (a < b ? a : b);
  else if constexpr (kOp == Op::max)
    return kFloat<T> ? (a != a || a > b ? a : b) : (a > b ? a : b);
  else if constexpr (kOp == Op::bit_and || kOp == Op::logical_and)
    return static_cast<T>(a & b);
  else if constexpr (kOp == Op::bit_or || kOp == Op::logical_or)
    return static_cast<T>(a | b);
  else if constexpr (kOp == Op::bit_xor || kOp == Op::logical_xor)
    return static_cast<T>(a ^ b);
  else
    return shift<kOp>(a, b);
}
template <Op kOp, class T>
inline bool compare_of(T a, T b) {
  if constexpr (kOp == Op::eq)
    return a == b;
  else if constexpr (kOp == Op::ne)
    return a != b;
  else if constexpr (kOp == Op::lt)
    return a < b;
  else if constexpr (kOp == Op::le)
    return a <= b;
  else if constexpr (kOp == Op::gt)
    return a > b;
  else
    return a >= b;
}

}  // namespace
}  // namespace tenfold::backends::cpu
