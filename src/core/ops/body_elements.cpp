// Applies instructions of a Body to the elements of its values: casts, comparisons, selections and reductions; arithmetic comes from
// body_prims.
#include "ops/body_elements.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/types/element.h"
#include "ops/body_prims.h"

namespace tenfold::ops {
namespace {

using ir::Prim;

std::uint64_t bits_of(std::int64_t x) { return static_cast<std::uint64_t>(x); }

template <class T>
bool holds(Prim comparison, T a, T b) {
  switch (comparison) {
    case Prim::eq: return a == b;
    case Prim::ne: return a != b;
    case Prim::lt: return a < b;
    case Prim::le: return a <= b;
    case Prim::gt: return a > b;
    default: return a >= b;
  }
}
bool is_comparison(Prim prim) { return prim >= Prim::eq && prim <= Prim::ge; }

bool compare(Prim prim, const Elements& a, const Elements& b, std::int64_t i) {
  if (a.is_real()) return holds(prim, a.real_at(i), b.real_at(i));
  if (a.dtype == DType::u64) return holds(prim, bits_of(a.whole_at(i)), bits_of(b.whole_at(i)));
  return holds(prim, a.whole_at(i), b.whole_at(i));
}

double real_of(const Elements& value, std::int64_t i) {
  if (value.is_real()) return value.real_at(i);
  return value.dtype == DType::u64 ? static_cast<double>(bits_of(value.whole_at(i))) : static_cast<double>(value.whole_at(i));
}

double cast_to_real(const Elements& a, DType to, std::int64_t i) {
  if (a.is_real() || to == DType::f64) return round_to(to, real_of(a, i));
  // Straight from 64 bits to float: by way of double it would be rounded twice.
  const float value = a.dtype == DType::u64 ? static_cast<float>(bits_of(a.whole_at(i))) : static_cast<float>(a.whole_at(i));
  return round_to(to, value);
}

std::int64_t cast_to_whole(const Elements& a, DType to, std::int64_t i) {
  if (!a.is_real()) return wrap_to(to, a.whole_at(i));
  std::uint64_t room = 0;
  store_double(to, &room, 0, a.real_at(i));
  return load_int(to, &room, 0);
}

std::int64_t saturate(const Elements& a, DType to, std::int64_t i) {
  const std::int64_t upper = max_integer(to), lower = min_integer(to);
  if (a.is_real()) {
    const double value = std::nearbyint(a.real_at(i));
    if (std::isnan(value)) return 0;
    if (value >= std::ldexp(1.0, bits(to) - (is_signed(to) ? 1 : 0))) return upper;
    if (value <= static_cast<double>(lower)) return lower;
    return static_cast<std::int64_t>(to == DType::u64 ? static_cast<std::uint64_t>(value) : bits_of(static_cast<std::int64_t>(value)));
  }
  const std::int64_t value = a.whole_at(i);
  if (a.dtype == DType::u64 && value < 0) return upper;
  if (to == DType::u64) return std::max<std::int64_t>(value, 0);
  return std::clamp(value, lower, upper);
}

double fma_of(const Elements& a, const Elements& b, const Elements& c, std::int64_t i) {
  if (a.dtype == DType::f64) return std::fma(a.real_at(i), b.real_at(i), c.real_at(i));
  return std::fma(static_cast<float>(a.real_at(i)), static_cast<float>(b.real_at(i)), static_cast<float>(c.real_at(i)));
}

double real_element(const ir::Instr& instr, const Elements& a, const Elements& b, const Elements& c, std::int64_t i) {
  switch (instr.prim) {
    case Prim::constant: return round_to(instr.dtype, instr.imm);
    case Prim::cast: return cast_to_real(a, instr.dtype, i);
    case Prim::select: return a.whole_at(i) ? b.real_at(i) : c.real_at(i);
    case Prim::fma: return round_to(instr.dtype, fma_of(a, b, c, i));
    default: break;
  }
  const bool is_unary = ir::arity(instr.prim) == 1;
  return round_to(instr.dtype, is_unary ? real_unary(instr.prim, a.real_at(i)) : real_binary(instr.prim, a.real_at(i), b.real_at(i)));
}

std::int64_t whole_element(const ir::Instr& instr, const Elements& a, const Elements& b, const Elements& c, std::int64_t i) {
  if (is_comparison(instr.prim)) return compare(instr.prim, a, b, i);
  switch (instr.prim) {
    case Prim::constant: return std::fabs(instr.imm) < 0x1p63 ? wrap_to(instr.dtype, static_cast<std::int64_t>(instr.imm))
                                                              : cast_to_whole(Elements{DType::f64, true, {instr.imm}, {}}, instr.dtype, 0);
    case Prim::cast: return cast_to_whole(a, instr.dtype, i);
    case Prim::saturate: return saturate(a, instr.dtype, i);
    case Prim::is_nan: return a.is_real() && std::isnan(a.real_at(i));
    case Prim::is_inf: return a.is_real() && std::isinf(a.real_at(i));
    case Prim::select: return a.whole_at(i) ? b.whole_at(i) : c.whole_at(i);
    case Prim::fma: return wrap_to(instr.dtype, static_cast<std::int64_t>(bits_of(a.whole_at(i)) * bits_of(b.whole_at(i)) +
                                                                          bits_of(c.whole_at(i))));
    default: break;
  }
  const std::int64_t value = ir::arity(instr.prim) == 1 ? whole_unary(instr.prim, instr.dtype, a.whole_at(i))
                                                        : whole_binary(instr.prim, instr.dtype, a.whole_at(i), b.whole_at(i));
  return wrap_to(instr.dtype, value);
}

Prim step_of(Prim reduction) {
  return reduction == Prim::reduce_sum ? Prim::add : reduction == Prim::reduce_max ? Prim::max : Prim::min;
}

double reduce_real(Prim prim, const Elements& a, std::int64_t count) {
  double result = prim == Prim::reduce_sum ? 0 : std::numeric_limits<double>::infinity() * (prim == Prim::reduce_max ? -1 : 1);
  for (std::int64_t i = 0; i < count; ++i) result = real_binary(step_of(prim), result, a.real_at(i));
  return result;
}

std::int64_t reduce_whole(Prim prim, DType dtype, const Elements& a, std::int64_t count) {
  std::int64_t result = prim == Prim::reduce_sum ? 0 : prim == Prim::reduce_max ? min_integer(dtype) : max_integer(dtype);
  for (std::int64_t i = 0; i < count; ++i) result = whole_binary(step_of(prim), dtype, result, a.whole_at(i));
  return result;
}

// The four operations and casts between float32 and float64, without asking for them at every element. False: another instruction.
bool apply_quickly(const ir::Instr& instr, const Elements& a, const Elements& b, Elements& result, std::int64_t elements) {
  if (instr.dtype != DType::f32 && instr.dtype != DType::f64) return false;
  const auto each = [&](auto&& value) {
    for (std::int64_t i = 0; i < elements; ++i) {
      const double exact = value(i);
      result.real[static_cast<std::size_t>(i)] = instr.dtype == DType::f32 ? static_cast<float>(exact) : exact;
    }
    return true;
  };
  switch (instr.prim) {
    case Prim::add: return each([&](std::int64_t i) { return a.real_at(i) + b.real_at(i); });
    case Prim::sub: return each([&](std::int64_t i) { return a.real_at(i) - b.real_at(i); });
    case Prim::mul: return each([&](std::int64_t i) { return a.real_at(i) * b.real_at(i); });
    case Prim::div: return each([&](std::int64_t i) { return a.real_at(i) / b.real_at(i); });
    case Prim::cast: return a.is_real() && each([&](std::int64_t i) { return a.real_at(i); });
    default: return false;
  }
}

}  // namespace

double round_to(DType dtype, double value) {
  if (dtype == DType::f64) return value;
  if (dtype == DType::f32) return static_cast<float>(value);
  std::uint64_t room = 0;
  store_double(dtype, &room, 0, value);
  return load_double(dtype, &room, 0);
}

std::int64_t wrap_to(DType dtype, std::int64_t value) {
  if (dtype == DType::i64 || dtype == DType::u64) return value;
  std::uint64_t room = 0;
  store_int(dtype, &room, 0, value);
  return load_int(dtype, &room, 0);
}

void apply(const ir::Instr& instr, const Elements& a, const Elements& b, const Elements& c, Elements& result, std::int64_t count) {
  if (ir::is_reduction(instr.prim)) {
    if (result.is_real()) result.real[0] = round_to(instr.dtype, reduce_real(instr.prim, a, count));
    else result.whole[0] = wrap_to(instr.dtype, reduce_whole(instr.prim, instr.dtype, a, count));
    return;
  }
  const std::int64_t elements = result.narrow ? 1 : count;
  if (apply_quickly(instr, a, b, result, elements)) return;
  for (std::int64_t i = 0; i < elements; ++i) {
    if (result.is_real()) result.real[static_cast<std::size_t>(i)] = real_element(instr, a, b, c, i);
    else result.whole[static_cast<std::size_t>(i)] = whole_element(instr, a, b, c, i);
  }
}

}  // namespace tenfold::ops
