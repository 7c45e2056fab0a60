// The Body primitives on Dims, each only where it is provably what the integer computation gives.
#include "ops/body_contents.h"

#include "base/check.h"
#include "ops/body_elements.h"
#include "ops/dim_rules.h"

namespace tenfold::ops {
namespace {

using ir::Dim;
using ir::Interval;
using ir::Prim;
using Result = std::optional<Dim>;

Dim negated(const Dim& flag) { return Dim(1) - flag; }

bool holds_sizes(DType type) { return type == DType::i64 || type == DType::i32 || type == DType::boolean; }

class Evaluator {
 public:
  explicit Evaluator(const ir::SymbolBounds& box) : box_(box), rules_(box) {}

  Result run(const ir::Body& body, const ir::Instr& instr, const Result& a, const Result& b, const Result& c) const {
    const int operands = ir::arity(instr.prim);
    if (is_float(instr.dtype) || (operands > 0 && !a) || (operands > 1 && !b) || (operands > 2 && !c)) return {};
    if ((operands < 1 || a->is_constant()) && (operands < 2 || b->is_constant()) && (operands < 3 || c->is_constant())) {
      return folded(body, instr, a, b, c);
    }
    // Symbols are sizes: they fit the signed types, while in the others a result might wrap.
    if (!holds_sizes(instr.dtype) || !holds_sizes(body.type_of(instr.a))) return {};
    switch (operands) {
      case 1: return unary(instr, *a);
      case 2: return binary(instr, *a, *b);
      default: return ternary(instr, *a, *b, *c);
    }
  }

 private:
  // Numbers only: what the interpreter makes of them.
  static Result folded(const ir::Body& body, const ir::Instr& instr, const Result& a, const Result& b, const Result& c) {
    const auto element = [&](std::uint16_t value, const Result& number) {
      return number ? Elements{body.type_of(value), true, {}, {number->constant()}} : Elements();
    };
    Elements result{instr.dtype, true, {}, {0}};
    apply(instr, element(instr.a, a), element(instr.b, b), element(instr.c, c), result, 1);
    return Dim(result.whole[0]);
  }

  Interval bounds(const Dim& d) const { return d.bounds(box_); }
  bool not_negative(const Dim& d) const { return bounds(d).lower >= 0; }

  Dim is_less(const Dim& a, const Dim& b) const {
    const Interval difference = bounds(a - b);
    return difference.upper < 0 ? Dim(1) : difference.lower >= 0 ? Dim(0) : less(a, b);
  }
  Dim is_equal(const Dim& a, const Dim& b) const {
    const Interval difference = bounds(a - b);
    return difference.upper < 0 || difference.lower > 0 ? Dim(0) : equal(a, b);
  }

  Result unary(const ir::Instr& instr, const Dim& a) const {
    switch (instr.prim) {
      case Prim::cast: return instr.dtype == DType::boolean ? negated(is_equal(a, 0)) : a;
      case Prim::neg: return Dim(0) - a;
      case Prim::abs: return rules_.larger(a, Dim(0) - a);
      case Prim::sign: return is_less(0, a) - is_less(a, 0);
      case Prim::logical_not: return negated(a);
      case Prim::floor: case Prim::ceil: case Prim::round_even: return a;
      default: return {};
    }
  }

  Result binary(const ir::Instr& instr, const Dim& a, const Dim& b) const {
    switch (instr.prim) {
      case Prim::add: return a + b;
      case Prim::sub: return a - b;
      case Prim::mul: case Prim::logical_and: return a * b;
      case Prim::min: return rules_.smaller(a, b);
      case Prim::max: case Prim::logical_or: return rules_.larger(a, b);
      case Prim::logical_xor: case Prim::ne: return negated(is_equal(a, b));
      case Prim::eq: return is_equal(a, b);
      case Prim::lt: return is_less(a, b);
      case Prim::gt: return is_less(b, a);
      case Prim::le: return negated(is_less(b, a));
      case Prim::ge: return negated(is_less(a, b));
      default: break;
    }
    // Division truncates towards zero, which is the floor where neither side is negative.
    const bool is_floor = not_negative(a) && bounds(b).lower > 0;
    if (is_floor && instr.prim == Prim::div) return floor_div(a, b);
    if (is_floor && (instr.prim == Prim::mod || instr.prim == Prim::fmod)) return mod(a, b);
    return {};
  }

  static Result ternary(const ir::Instr& instr, const Dim& a, const Dim& b, const Dim& c) {
    if (instr.prim == Prim::fma) return a * b + c;
    if (a.is_constant()) return a.constant() ? b : c;
    return a * b + negated(a) * c;
  }

  const ir::SymbolBounds& box_;
  DimRules rules_;
};

}  // namespace

std::vector<Result> body_contents(const ir::Body& body, std::span<const Dim> in, const ir::SymbolBounds& box) {
  std::vector<Result> values(in.begin(), in.end());
  const Evaluator evaluator(box);
  for (const ir::Instr& instr : body.code) {
    Result result;
    try {
      const int operands = ir::arity(instr.prim);
      const auto operand = [&](int k, std::uint16_t value) { return k < operands ? values[value] : Result(); };
      if (!ir::is_reduction(instr.prim)) result = evaluator.run(body, instr, operand(0, instr.a), operand(1, instr.b), operand(2, instr.c));
    } catch (const Error&) {
      // Dims refuse to overflow where the tensor's integers wrap: the contents are then just not known.
    }
    values.push_back(result);
  }
  std::vector<Result> outputs;
  for (const std::uint16_t v : body.outputs) outputs.push_back(is_float(body.type_of(v)) ? Result() : values[v]);
  return outputs;
}

}  // namespace tenfold::ops
