// Body: a flat, serializable program of typed scalar primitives. The one definition of every pointwise computation.
//
// A Body is what a pointwise operator means (OpDef.scalar), what follows a matmul or convolution (its epilogue), and what a
// Region node computes. It runs once per element of an iteration space; each input is broadcast to that space as numpy does.
// Values are numbered: inputs first, then the results of `code` in order. Reductions run over the last `reduced_rank` dims of
// the space and give one value per row, which later instructions use like any other (the row is computed in phases).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tenfold/tensor.h"

namespace tenfold::ir {

enum class Prim : std::uint8_t {
  constant,                                   // imm
  cast,                                       // to `dtype`; ONNX Cast rules (floats truncate towards zero)
  saturate,                                   // round half to even, then clamp to the range of integer `dtype`
  // unary
  neg, abs, sign, sqrt, rsqrt, reciprocal, exp, log, erf, tanh, sigmoid, floor, ceil, round_even,
  sin, cos, tan, asin, acos, atan, sinh, cosh, asinh, acosh, atanh, logical_not, bit_not, is_nan, is_inf,
  // binary, both operands of the same type
  add, sub, mul, div, pow, min, max, mod, fmod, bit_and, bit_or, bit_xor, shift_left, shift_right,
  eq, ne, lt, le, gt, ge, logical_and, logical_or, logical_xor,
  // ternary
  select,                                     // a ? b : c
  fma,                                        // a * b + c
  // reductions over the last `reduced_rank` dims
  reduce_sum, reduce_max, reduce_min,
  count_,
};
const char* name(Prim prim);
int arity(Prim prim);
bool is_reduction(Prim prim);

struct Instr {
  Prim prim = Prim::constant;
  DType dtype = DType::f32;     // type of the result
  std::uint16_t a = 0, b = 0, c = 0;   // value numbers
  double imm = 0;               // constant only
  bool operator==(const Instr&) const = default;
};

struct Body {
  std::vector<DType> inputs;              // input 0 of an epilogue is the anchor's raw result (the accumulator)
  std::vector<Instr> code;
  std::vector<std::uint16_t> outputs;     // value numbers
  int reduced_rank = 0;                   // trailing dims that reductions run over; 0 if there is none
  bool operator==(const Body&) const = default;

  int value_count() const { return static_cast<int>(inputs.size() + code.size()); }
  DType type_of(int value) const;
};

// Appends instructions and returns value numbers: BodyBuilder b({f32, f32}); b.finish({b.add(0, 1)}).
class BodyBuilder {
 public:
  explicit BodyBuilder(std::vector<DType> inputs) { body_.inputs = std::move(inputs); }
  std::uint16_t constant(DType dtype, double value);
  std::uint16_t cast(std::uint16_t a, DType to);
  std::uint16_t unary(Prim prim, std::uint16_t a);                         // result type as the operand's; is_* and not give boolean
  std::uint16_t binary(Prim prim, std::uint16_t a, std::uint16_t b);       // comparisons give boolean
  std::uint16_t select(std::uint16_t condition, std::uint16_t a, std::uint16_t b);
  std::uint16_t emit(Instr instr);
  DType type_of(int value) const { return body_.type_of(value); }
  Body finish(std::vector<std::uint16_t> outputs);

 private:
  Body body_;
};

// Throws Error(internal) if value numbers, types or arities are wrong: also the check for bodies read from a plan.
void verify(const Body& body);
std::string text(const Body& body);       // "(f32,f32) %2=add.f32(%0,%1) %3=max.f32(%2,%0) -> %3"
Body parse_body(std::string_view text);

// `next` applied to the outputs of `first`: links[i] says which value feeds input i of `next` (an output of `first`, by
// number >= 0, or -1 for a new input appended after first's inputs, in order).
Body compose(const Body& first, const Body& next, const std::vector<int>& links);
// Drops instructions that no output needs and merges equal ones. Inputs stay, in order.
Body simplify(const Body& body);

}  // namespace tenfold::ir
