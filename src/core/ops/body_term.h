// Term: a value of a Body under construction, with the operators of arithmetic, so that a formula reads as in a textbook.
//
//   const Term x(builder, 0);
//   builder.finish({(x * tanh(log(exp(x) + 1.0))).value()});
// Numbers become constants of the other operand's type.
#pragma once

#include "ir/body.h"

namespace tenfold::ir {

class Term {
 public:
  Term(BodyBuilder& builder, std::uint16_t value) : builder_(&builder), value_(value) {}
  std::uint16_t value() const { return value_; }
  operator std::uint16_t() const { return value_; }   // NOLINT: a term stands for its value number
  DType dtype() const { return builder_->type_of(value_); }

  Term number(double x) const { return {*builder_, builder_->constant(dtype(), x)}; }
  Term with(Prim prim) const { return {*builder_, builder_->unary(prim, value_)}; }
  Term with(Prim prim, Term other) const { return {*builder_, builder_->binary(prim, value_, other.value_)}; }
  Term to(DType type) const { return type == dtype() ? *this : Term(*builder_, builder_->cast(value_, type)); }
  Term choose(Term yes, Term no) const { return {*builder_, builder_->select(value_, yes.value_, no.value_)}; }

 private:
  BodyBuilder* builder_;
  std::uint16_t value_;
};

inline Term operator-(Term a) { return a.with(Prim::neg); }
inline Term operator+(Term a, Term b) { return a.with(Prim::add, b); }
inline Term operator-(Term a, Term b) { return a.with(Prim::sub, b); }
inline Term operator*(Term a, Term b) { return a.with(Prim::mul, b); }
inline Term operator/(Term a, Term b) { return a.with(Prim::div, b); }
inline Term operator<(Term a, Term b) { return a.with(Prim::lt, b); }
inline Term operator<=(Term a, Term b) { return a.with(Prim::le, b); }
inline Term operator>(Term a, Term b) { return a.with(Prim::gt, b); }
inline Term operator>=(Term a, Term b) { return a.with(Prim::ge, b); }
inline Term min(Term a, Term b) { return a.with(Prim::min, b); }
inline Term max(Term a, Term b) { return a.with(Prim::max, b); }

inline Term operator+(Term a, double b) { return a + a.number(b); }
inline Term operator-(Term a, double b) { return a - a.number(b); }
inline Term operator*(Term a, double b) { return a * a.number(b); }
inline Term operator/(Term a, double b) { return a / a.number(b); }
inline Term operator+(double a, Term b) { return b.number(a) + b; }
inline Term operator-(double a, Term b) { return b.number(a) - b; }
inline Term operator*(double a, Term b) { return b.number(a) * b; }
inline Term operator/(double a, Term b) { return b.number(a) / b; }
inline Term operator<(Term a, double b) { return a < a.number(b); }
inline Term operator<=(Term a, double b) { return a <= a.number(b); }
inline Term operator>(Term a, double b) { return a > a.number(b); }
inline Term operator>=(Term a, double b) { return a >= a.number(b); }
inline Term min(Term a, double b) { return min(a, a.number(b)); }
inline Term max(Term a, double b) { return max(a, a.number(b)); }

inline Term abs(Term a) { return a.with(Prim::abs); }
inline Term sqrt(Term a) { return a.with(Prim::sqrt); }
inline Term exp(Term a) { return a.with(Prim::exp); }
inline Term log(Term a) { return a.with(Prim::log); }
inline Term erf(Term a) { return a.with(Prim::erf); }
inline Term tanh(Term a) { return a.with(Prim::tanh); }
inline Term sigmoid(Term a) { return a.with(Prim::sigmoid); }
inline Term cast(Term a, DType to) { return a.to(to); }
inline Term select(Term condition, Term yes, Term no) { return condition.choose(yes, no); }

}  // namespace tenfold::ir
