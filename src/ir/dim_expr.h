// The stored form of a Dim expression, shared by the files that walk it. Nothing outside dim*.cpp includes this.
#pragma once

#include <string>
#include <vector>

#include "ir/dim.h"

namespace tenfold::ir {
namespace detail {

enum class Op : std::uint8_t { symbol, sum, floor_div, ceil_div, mod, min, max, equal, less };

struct Term {
  std::int64_t coefficient;
  std::vector<const Expr*> atoms;   // sorted by text; empty for the constant term
};

// An atom (symbol or function of two Dims) or a sum of terms. `text` is canonical: equal text is equal expression.
struct Expr {
  Op op;
  std::string name;          // of a symbol
  std::vector<Dim> args;     // of a function: two, of min and max two or more
  std::vector<Term> terms;   // of a sum
  std::string text;
  static Dim dim(const Expr* e) { return Dim::of(e); }
  static const Expr* of(Dim d) { return d.expr_; }
};

}  // namespace detail

}  // namespace tenfold::ir
