// Integer arithmetic that throws instead of overflowing: sizes and offsets come from files.
#pragma once

#include <cstdint>

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
inline std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return checked_mul(checked_add(value, multiple - 1) / multiple, multiple);
}
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 && (a ^ b) >= 0 ? 1 : 0); }
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a ^ b) < 0 ? 1 : 0); }

}  // namespace tenfold
