// The stored form of a Dim expression, shared by the files that walk it. Nothing outside dim*.cpp and tests includes this.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/dim.h"

namespace tenfold::ir {
namespace detail {

enum class Op : std::uint8_t { symbol, sum, floor_div, ceil_div, mod, min, max, equal, less };

struct Term {
  std::int64_t coefficient;
  Dims atoms;   // sorted by text; empty for the constant term
};

// An atom (symbol or function of two Dims) or a sum of terms. `text` is canonical: equal text is equal expression.
struct Expr {
  Op op;
  std::string name;          // of a symbol
  std::vector<Dim> args;     // of a function: two, of min and max two or more
  std::vector<Term> terms;   // of a sum
  std::string text;
  static Dim dim(std::shared_ptr<const Expr> e) {
    Dim d;
    d.expr_ = std::move(e);
    return d;
  }
  static const Expr* of(const Dim& d) { return d.expr_.get(); }   // null: a constant
};

std::size_t interned();   // how many expressions live in the process, for tests

}  // namespace detail

}  // namespace tenfold::ir
