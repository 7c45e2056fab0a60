// Compiling and evaluating tables of Dims.
#include "ir/dim_code.h"

#include <algorithm>

#include "base/checked.h"
#include "ir/brief.h"
#include "ir/dim_expr.h"

namespace tenfold::ir {
namespace { constexpr int kStack = 64; }

void DimCode::emit(Dim d, std::span<const std::string> symbols, int depth) {
  require(depth < kStack - 2, ErrorKind::unsupported, "a shape expression is nested too deeply: ", brief(d));
  const detail::Expr* e = detail::Expr::of(d);
  if (!e) {
    code_.push_back({Op::constant, d.constant()});
  } else if (e->op == detail::Op::symbol) {
    const auto it = std::find(symbols.begin(), symbols.end(), e->name);
    check(it != symbols.end(), "a shape uses the unknown symbol '", e->name, "'");
    code_.push_back({Op::symbol, it - symbols.begin()});
  } else if (e->op == detail::Op::sum) {
    for (std::size_t t = 0; t < e->terms.size(); ++t) {
      code_.push_back({Op::constant, e->terms[t].coefficient});
      for (const Dim& atom : e->terms[t].atoms) {
        emit(atom, symbols, depth + 2);
        code_.push_back({Op::mul, 0});
      }
      if (t) code_.push_back({Op::add, 0});
    }
  } else {
    static constexpr Op kOps[] = {Op::floor_div, Op::ceil_div, Op::mod, Op::min, Op::max, Op::equal, Op::less};
    for (std::size_t i = 0; i < e->args.size(); ++i) {
      emit(e->args[i], symbols, depth + (i > 0));
      if (i) code_.push_back({kOps[static_cast<int>(e->op) - static_cast<int>(detail::Op::floor_div)], 0});
    }
  }
}

DimCode::DimCode(std::span<const Dim> dims, std::span<const std::string> symbols) {
  for (Dim d : dims) {
    emit(d, symbols, 0);
    ends_.push_back(static_cast<std::int32_t>(code_.size()));
  }
}

bool DimCode::apply(Op op, std::int64_t a, std::int64_t b, std::int64_t& r) noexcept {
  switch (op) {
    case Op::add: return !__builtin_add_overflow(a, b, &r);
    case Op::mul: return !__builtin_mul_overflow(a, b, &r);
    case Op::min: return r = std::min(a, b), true;
    case Op::max: return r = std::max(a, b), true;
    case Op::equal: return r = a == b, true;
    case Op::less: return r = a < b, true;
    default: break;
  }
  if (op == Op::mod && b != 0) return r = floor_mod(a, b), true;
  if (!divides(a, b)) return false;
  r = op == Op::floor_div ? tenfold::floor_div(a, b) : tenfold::ceil_div(a, b);
  return true;
}

bool DimCode::evaluate(std::span<const std::int64_t> symbols, std::span<std::int64_t> out, std::span<const Known> known) const noexcept {
  std::int64_t stack[kStack];
  std::size_t at = 0;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    int top = 0;
    bool failed = false;
    Known min = Known::value;
    for (; at < static_cast<std::size_t>(ends_[i]); ++at) {
      const Instr& instr = code_[at];
      if (instr.op == Op::constant) {
        stack[top++] = instr.value;
      } else if (instr.op == Op::symbol) {
        stack[top++] = symbols[static_cast<std::size_t>(instr.value)];
        if (!known.empty()) min = std::max(min, known[static_cast<std::size_t>(instr.value)]);
      } else {
        --top;
        if (!apply(instr.op, stack[top - 1], stack[top], stack[top - 1])) failed = true, stack[top - 1] = 0;
      }
    }
    if (failed && min == Known::value) return false;
    out[i] = failed || min == Known::nothing ? 0 : stack[--top];
  }
  return true;
}

}  // namespace tenfold::ir
