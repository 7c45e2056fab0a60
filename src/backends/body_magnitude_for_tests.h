// What f32 may make of a body: its values in f64, and beside each the size of what its rounding errors stem from. For tests.
//
// An error of one part in N of every intermediate result shows up as one part in N of the magnitude: of f(a, b) that is
// |f| + |df/da| A + |df/db| B with A and B the operands' magnitudes, so of a sum that of the sum of absolute values. Where an error that
// small could turn a comparison or step over a whole number the magnitude is infinite: such an element cannot be held to anything.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "ir/body.h"
#include "tenfold/tensor.h"

namespace tenfold::backends::testing {

struct Held {
  std::vector<double> value, magnitude;
};

class BodyMagnitude {
 public:
  // `space`: what all operands are broadcast to. Nothing where a body computes in other types than f32, integers and booleans.
  static std::optional<std::vector<Held>> of(const ir::Body& body, const std::vector<Tensor>& operands, const Shape& space) {
    BodyMagnitude all(body, space);
    for (std::size_t i = 0; i < operands.size(); ++i) all.load(operands[i]);
    for (const ir::Instr& i : body.code)
      if (!all.step(i)) return std::nullopt;
    std::vector<Held> results;
    for (const std::uint16_t v : body.outputs) results.push_back(all.values_[v]);
    return results;
  }

 private:
  static constexpr double kPart = 1e-5, kNever = std::numeric_limits<double>::infinity();

  BodyMagnitude(const ir::Body& body, const Shape& space) : body_(body), space_(space) {
    count_ = element_count(space);
    for (int d = 0; d < body.reduced_rank; ++d) row_ *= space[space.size() - 1 - static_cast<std::size_t>(d)];
  }

  void load(const Tensor& t) {
    Held h = room();
    const std::size_t ahead = space_.size() - t.shape().size();
    for (std::int64_t i = 0; i < count_; ++i) {
      std::int64_t rest = i, at = 0, step = 1;
      for (std::size_t d = space_.size(); d-- > ahead;) {
        const std::int64_t extent = t.shape()[d - ahead];
        at += (extent == 1 ? 0 : rest % space_[d]) * step, step *= extent, rest /= space_[d];
      }
      h.value[at_(i)] = t.as_double(at), h.magnitude[at_(i)] = std::abs(t.as_double(at));
    }
    values_.push_back(std::move(h));
  }

  bool step(const ir::Instr& i) {
    using ir::Prim;
    if (i.dtype == DType::f16 || i.dtype == DType::bf16 || (is_float(i.dtype) && bits(i.dtype) == 8)) return false;
    if (i.prim == Prim::cast && !is_float(i.dtype) && i.dtype != DType::boolean && is_float(body_.type_of(i.a))) return false;
    if (i.prim == Prim::saturate || (i.prim >= Prim::bit_and && i.prim <= Prim::shift_right) || i.prim == Prim::bit_not) return false;
    Held h = room();
    if (ir::is_reduction(i.prim)) {
      reduce(i, h);
    } else {
      const int n = ir::arity(i.prim);
      for (std::size_t e = 0; e < h.value.size(); ++e) {
        double x[3] = {}, m[3] = {};
        const std::uint16_t from[3] = {i.a, i.b, i.c};
        for (int k = 0; k < n; ++k) x[k] = values_[from[k]].value[e], m[k] = values_[from[k]].magnitude[e];
        h.value[e] = computed(i, x), h.magnitude[e] = magnitude(i, n, x, m, h.value[e]);
      }
    }
    values_.push_back(std::move(h));
    return true;
  }

  void reduce(const ir::Instr& i, Held& h) const {
    const Held& a = values_[i.a];
    for (std::int64_t start = 0; start < count_; start += row_) {
      double value = i.prim == ir::Prim::reduce_sum ? 0 : a.value[at_(start)], size = 0;
      for (std::int64_t e = start; e < start + row_; ++e) {
        const double x = a.value[at_(e)], m = a.magnitude[at_(e)];
        if (i.prim == ir::Prim::reduce_sum) value += x, size += m;
        else value = extreme(i.prim == ir::Prim::reduce_max, value, x), size = std::max(size, m);
      }
      for (std::int64_t e = start; e < start + row_; ++e) h.value[at_(e)] = value, h.magnitude[at_(e)] = size;
    }
  }

  static double computed(const ir::Instr& i, const double* x) {
    using ir::Prim;
    const double a = x[0], b = x[1];
    switch (i.prim) {
      case Prim::constant: return i.dtype == DType::f32 ? static_cast<double>(static_cast<float>(i.imm)) : i.imm;
      case Prim::cast: return i.dtype == DType::boolean ? a != 0 : a;
      case Prim::neg: return -a;
      case Prim::abs: return std::abs(a);
      case Prim::sign: return (a > 0) - (a < 0);
      case Prim::sqrt: return std::sqrt(a);
      case Prim::rsqrt: return 1 / std::sqrt(a);
      case Prim::reciprocal: return 1 / a;
      case Prim::exp: return std::exp(a);
      case Prim::log: return std::log(a);
      case Prim::erf: return std::erf(a);
      case Prim::tanh: return std::tanh(a);
      case Prim::sigmoid: return 1 / (1 + std::exp(-a));
      case Prim::floor: return std::floor(a);
      case Prim::ceil: return std::ceil(a);
      case Prim::round_even: return std::nearbyint(a);
      case Prim::sin: return std::sin(a);
      case Prim::cos: return std::cos(a);
      case Prim::tan: return std::tan(a);
      case Prim::asin: return std::asin(a);
      case Prim::acos: return std::acos(a);
      case Prim::atan: return std::atan(a);
      case Prim::sinh: return std::sinh(a);
      case Prim::cosh: return std::cosh(a);
      case Prim::asinh: return std::asinh(a);
      case Prim::acosh: return std::acosh(a);
      case Prim::atanh: return std::atanh(a);
      case Prim::logical_not: return a == 0;
      case Prim::is_nan: return std::isnan(a);
      case Prim::is_inf: return std::isinf(a);
      case Prim::add: return a + b;
      case Prim::sub: return a - b;
      case Prim::mul: return a * b;
      case Prim::div: return is_float(i.dtype) ? a / b : std::trunc(a / b);
      case Prim::pow: return std::pow(a, b);
      case Prim::min: return extreme(false, a, b);
      case Prim::max: return extreme(true, a, b);
      case Prim::mod: return a - b * std::floor(a / b);
      case Prim::fmod: return std::fmod(a, b);
      case Prim::eq: return a == b;
      case Prim::ne: return a != b;
      case Prim::lt: return a < b;
      case Prim::le: return a <= b;
      case Prim::gt: return a > b;
      case Prim::ge: return a >= b;
      case Prim::logical_and: return a != 0 && b != 0;
      case Prim::logical_or: return a != 0 || b != 0;
      case Prim::logical_xor: return (a != 0) != (b != 0);
      case Prim::select: return a != 0 ? b : x[2];
      case Prim::fma: return a * b + x[2];
      default: return std::nan("");
    }
  }

  static double extreme(bool larger, double a, double b) {
    return std::isnan(a) || std::isnan(b) ? std::nan("") : larger ? std::max(a, b) : std::min(a, b);
  }
  static bool jumps(ir::Prim prim) {
    using ir::Prim;
    return prim == Prim::sign || (prim >= Prim::floor && prim <= Prim::round_even) || prim == Prim::mod || prim == Prim::fmod ||
           (prim >= Prim::eq && prim <= Prim::ge);
  }
  static double magnitude(const ir::Instr& i, int n, const double* x, const double* m, double value) {
    using ir::Prim;
    if (n == 0) return std::abs(value);
    if (i.prim == Prim::select) return std::isinf(m[0]) ? kNever : x[0] != 0 ? m[1] : m[2];
    if (i.prim == Prim::min || i.prim == Prim::max) return std::max(m[0], m[1]);
    double size = std::abs(value);
    for (int k = 0; k < n; ++k) {
      if (std::isinf(m[k])) return kNever;
      if (m[k] == 0) continue;   // exactly nought
      double near[3] = {x[0], x[1], x[2]};
      const double h = jumps(i.prim) ? kPart * m[k] : 1e-6 * std::max(std::abs(x[k]), 1e-2 * m[k]);
      near[k] = x[k] + h;
      const double above = computed(i, near);
      near[k] = x[k] - h;
      const double below = computed(i, near);
      if (jumps(i.prim)) {
        const bool whole = i.prim == Prim::mod || i.prim == Prim::fmod ? std::abs(above - below) > 4 * h : above != below;
        if (whole) return kNever;
        if (i.prim == Prim::mod || i.prim == Prim::fmod) size += m[k] * std::max(1.0, std::abs(above - below) / (2 * h));
        continue;
      }
      const double slope = std::isfinite(above) && std::isfinite(below) ? (above - below) / (2 * h)
                           : std::isfinite(above)                       ? (above - value) / h
                                                                        : (value - below) / h;
      size += std::abs(slope) * m[k];
    }
    return size;
  }

  Held room() const {
    const auto n = static_cast<std::size_t>(count_);
    return {std::vector<double>(n), std::vector<double>(n)};
  }
  static std::size_t at_(std::int64_t i) { return static_cast<std::size_t>(i); }

  const ir::Body& body_;
  Shape space_;
  std::int64_t count_ = 0, row_ = 1;
  std::vector<Held> values_;
};

}  // namespace tenfold::backends::testing
