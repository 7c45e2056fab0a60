// The Body primitives on Dims, each only where it is provably what the integer computation gives.
#include "ops/body_contents.h"

#include <cmath>

#include "base/check.h"
#include "ops/body_lane.h"
#include "ops/body_prims.h"

namespace tenfold::ops {
namespace {

using ir::Dim;
using ir::Prim;
using Result = std::optional<Dim>;

Dim negated(const Dim& flag) { return Dim(1) - flag; }

class Evaluator {
 public:
  explicit Evaluator(const ir::SymbolBounds& box) : box_(box) {}

  Result run(const ir::Instr& instr, const Result& a, const Result& b, const Result& c) const {
    if (instr.prim == Prim::constant) return constant(instr);
    const int operands = ir::arity(instr.prim);
    if (!a || (operands > 1 && !b) || (operands > 2 && !c)) return {};
    switch (operands) {
      case 1: return unary(instr, *a);
      case 2: return binary(instr, *a, *b);
      default: return ternary(instr, *a, *b, *c);
    }
  }

 private:
  static Result constant(const ir::Instr& instr) {
    if (is_float(instr.dtype) || std::fabs(instr.imm) > 0x1p62) return {};
    return Dim(static_cast<std::int64_t>(instr.imm));
  }

  // Numbers on both sides: what the interpreter does to integers.
  static Result folded(const ir::Instr& instr, std::int64_t a, std::int64_t b) {
    return Dim(wrap_to(instr.dtype, whole_binary(instr.prim, instr.dtype, a, b)));
  }

  bool not_negative(const Dim& d) const { return d.bounds(box_).lower >= 0; }
  bool positive(const Dim& d) const { return d.bounds(box_).lower > 0; }

  Result cast(DType to, const Dim& a) const {
    if (is_float(to)) return {};
    if (a.is_constant()) return Dim(wrap_to(to, a.constant()));
    if (to == DType::boolean) return negated(equal(a, Dim(0)));
    if (to == DType::i64 || to == DType::i32) return a;
    return to == DType::u64 && not_negative(a) ? Result(a) : Result();
  }

  Result unary(const ir::Instr& instr, const Dim& a) const {
    switch (instr.prim) {
      case Prim::cast: return cast(instr.dtype, a);
      case Prim::neg: return Dim(0) - a;
      case Prim::abs: return not_negative(a) ? a : max(a, Dim(0) - a);
      case Prim::sign: return less(Dim(0), a) - less(a, Dim(0));
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
      case Prim::min: return min(a, b);
      case Prim::max: case Prim::logical_or: return max(a, b);
      case Prim::logical_xor: case Prim::ne: return negated(equal(a, b));
      case Prim::eq: return equal(a, b);
      case Prim::lt: return less(a, b);
      case Prim::gt: return less(b, a);
      case Prim::le: return negated(less(b, a));
      case Prim::ge: return negated(less(a, b));
      default: break;
    }
    if (a.is_constant() && b.is_constant()) return folded(instr, a.constant(), b.constant());
    // Division truncates towards zero, which is the floor where neither side is negative.
    if (instr.prim == Prim::div && not_negative(a) && positive(b)) return floor_div(a, b);
    if ((instr.prim == Prim::mod || instr.prim == Prim::fmod) && not_negative(a) && positive(b)) return mod(a, b);
    return {};
  }

  static Result ternary(const ir::Instr& instr, const Dim& a, const Dim& b, const Dim& c) {
    if (instr.prim == Prim::fma) return a * b + c;
    if (a.is_constant()) return a.constant() ? b : c;
    return a * b + negated(a) * c;
  }

  const ir::SymbolBounds& box_;
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
      if (!ir::is_reduction(instr.prim)) result = evaluator.run(instr, operand(0, instr.a), operand(1, instr.b), operand(2, instr.c));
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
