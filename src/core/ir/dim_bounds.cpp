// Interval enclosure of Dim expressions over a box of symbol ranges. Products saturate at +-2^62 instead of overflowing.
#include <algorithm>
#include <array>

#include "base/checked.h"
#include "ir/dim_expr.h"

namespace tenfold::ir {
namespace {

constexpr std::int64_t kLimit = std::int64_t{1} << 62;

std::int64_t clamp128(__int128 v) {
  return static_cast<std::int64_t>(std::clamp<__int128>(v, -kLimit, kLimit));
}
Interval add(Interval a, Interval b) {
  return {clamp128(static_cast<__int128>(a.lower) + b.lower), clamp128(static_cast<__int128>(a.upper) + b.upper)};
}
Interval multiply(Interval a, Interval b) {
  const std::array<std::int64_t, 4> corners{
      clamp128(static_cast<__int128>(a.lower) * b.lower), clamp128(static_cast<__int128>(a.lower) * b.upper),
      clamp128(static_cast<__int128>(a.upper) * b.lower), clamp128(static_cast<__int128>(a.upper) * b.upper)};
  return {*std::min_element(corners.begin(), corners.end()), *std::max_element(corners.begin(), corners.end())};
}
Interval divide(Interval a, Interval b, bool ceil) {
  if (b.lower <= 0) return {-kLimit, kLimit};   // the divisor may be zero or negative: no bound
  auto div = [&](std::int64_t x, std::int64_t y) { return ceil ? tenfold::ceil_div(x, y) : tenfold::floor_div(x, y); };
  const std::array<std::int64_t, 4> corners{div(a.lower, b.lower), div(a.lower, b.upper), div(a.upper, b.lower), div(a.upper, b.upper)};
  return {*std::min_element(corners.begin(), corners.end()), *std::max_element(corners.begin(), corners.end())};
}

Interval function(detail::Op op, Interval a, Interval b) {
  using detail::Op;
  switch (op) {
    case Op::floor_div: return divide(a, b, false);
    case Op::ceil_div: return divide(a, b, true);
    case Op::mod: return b.lower > 0 ? Interval{0, b.upper - 1} : Interval{-kLimit, kLimit};
    case Op::min: return {std::min(a.lower, b.lower), std::min(a.upper, b.upper)};
    case Op::max: return {std::max(a.lower, b.lower), std::max(a.upper, b.upper)};
    case Op::equal:
      if (a.lower == a.upper && a == b) return {1, 1};
      return {0, a.upper < b.lower || b.upper < a.lower ? 0 : 1};
    case Op::less: return {a.upper < b.lower ? 1 : 0, a.lower < b.upper ? 1 : 0};
    default: return {-kLimit, kLimit};
  }
}

}  // namespace

Interval Dim::bounds(const SymbolBounds& box) const {
  if (!expr_) return {constant_, constant_};
  if (expr_->op == detail::Op::symbol) {
    auto it = box.find(expr_->name);
    return it == box.end() ? Interval{0, kUnbounded} : it->second;
  }
  if (expr_->op != detail::Op::sum) {
    Interval result = expr_->args[0].bounds(box);
    for (std::size_t i = 1; i < expr_->args.size(); ++i) result = function(expr_->op, result, expr_->args[i].bounds(box));
    return result;
  }
  Interval sum{0, 0};
  for (const detail::Term& t : expr_->terms) {
    Interval value{t.coefficient, t.coefficient};
    for (const Dim& atom : t.atoms) value = multiply(value, atom.bounds(box));
    sum = add(sum, value);
  }
  return sum;
}

}  // namespace tenfold::ir
