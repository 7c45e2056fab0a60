// What pointwise operators share: infer and reference derived from their Body, and shorthands for the usual bodies.
//
// The inputs of an operator's Body are the operands that are present, in order: an optional operand left out is no input.
#pragma once

#include "ir/op_def.h"
#include "ops/body_term.h"

namespace tenfold::ir {

void infer_pointwise(InferCall& call);
void reference_pointwise(Call& call);

// Completes the definition of a pointwise operator: infer and reference come from `scalar`.
OpDef pointwise(OpDef def);

// The element types that an operator takes.
enum class Operands { any, numbers, floats, integers, unsigned_integers, booleans };

// The one type of all present operands from `first` on; throws invalid_model if they differ or are not accepted.
DType operand_type(const Node& node, Operands accepted, int first = 0);
// A builder over the operands that are present.
BodyBuilder body_builder(const Node& node);

template <Prim prim, Operands accepted>
Body unary_body(const Node& node) {
  operand_type(node, accepted);
  BodyBuilder b = body_builder(node);
  return b.finish({b.unary(prim, 0)});
}

template <Prim prim, Operands accepted>
Body binary_body(const Node& node) {
  operand_type(node, accepted);
  BodyBuilder b = body_builder(node);
  return b.finish({b.binary(prim, 0, 1)});
}

// x0 op x1 op x2 ..., from the left.
template <Prim prim, Operands accepted>
Body variadic_body(const Node& node) {
  operand_type(node, accepted);
  BodyBuilder b = body_builder(node);
  std::uint16_t result = 0;
  for (std::uint16_t i = 1; i < node.inputs.size(); ++i) result = b.binary(prim, result, i);
  return b.finish({result});
}

// y = formula(x), or formula(x, second operand). Half and bfloat16 are computed in f32 and rounded once, as every runtime does.
template <class Formula>
Body formula_body(const Node& node, Formula&& formula) {
  const DType type = operand_type(node, Operands::floats);
  const DType compute = bits(type) < 32 ? DType::f32 : type;
  BodyBuilder b = body_builder(node);
  std::vector<Term> terms;
  for (std::uint16_t i = 0; i < node.inputs.size(); ++i) terms.push_back(cast(Term(b, i), compute));
  Term result = [&] {
    if constexpr (std::is_invocable_v<Formula, Term, Term>) return formula(terms.at(0), terms.at(1));
    else return formula(terms.at(0));
  }();
  return b.finish({cast(result, type)});
}

}  // namespace tenfold::ir
