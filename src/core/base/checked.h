// Integer arithmetic that throws instead of overflowing: sizes and offsets come from files and callers.
#pragma once

#include <cstdint>
#include <limits>

#include "base/check.h"

namespace tenfold {

inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  require(!__builtin_add_overflow(a, b, &r), ErrorKind::invalid_model, "size overflow: ", a, " + ", b);
  return r;
}
inline std::int64_t checked_sub(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  require(!__builtin_sub_overflow(a, b, &r), ErrorKind::invalid_model, "size overflow: ", a, " - ", b);
  return r;
}
inline std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  require(!__builtin_mul_overflow(a, b, &r), ErrorKind::invalid_model, "size overflow: ", a, " * ", b);
  return r;
}

// Whether a / b and a % b have a value; processors trap on the others.
constexpr bool divides(std::int64_t a, std::int64_t b) { return b != 0 && !(b == -1 && a == std::numeric_limits<std::int64_t>::min()); }
[[noreturn, gnu::cold, gnu::noinline]] inline void fail_division(std::int64_t a, std::int64_t b) {
  fail(ErrorKind::invalid_model, b == 0 ? cat("division of ", a, " by zero") : cat("size overflow: ", a, " / ", b));
}
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  if (!divides(a, b)) [[unlikely]] fail_division(a, b);
  return a / b + (a % b != 0 && (a ^ b) >= 0 ? 1 : 0);
}
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  if (!divides(a, b)) [[unlikely]] fail_division(a, b);
  return a / b - (a % b != 0 && (a ^ b) < 0 ? 1 : 0);
}
// a - floor_div(a, b) * b: of the divisor's sign, and never out of range.
constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  if (b == -1) return 0;
  if (b == 0) [[unlikely]] fail_division(a, b);
  const std::int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
inline std::int64_t round_up(std::int64_t value, std::int64_t multiple) { return checked_mul(ceil_div(value, multiple), multiple); }

// |a|, which int64 cannot always hold.
constexpr std::uint64_t unsigned_abs(std::int64_t a) {
  return a < 0 ? 0 - static_cast<std::uint64_t>(a) : static_cast<std::uint64_t>(a);
}

}  // namespace tenfold
