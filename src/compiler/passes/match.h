// Small questions that rules ask of nodes and values.
#pragma once

#include <cmath>
#include <optional>

#include "ir/op_def.h"
#include "ir/recipe.h"
#include "ir/shape_operand.h"

namespace tenfold::passes {

// Tries a rule at every node that is there now; true if it changed something.
inline bool try_each(ir::Graph& graph, bool (*rule)(ir::Graph&, ir::Node&)) {
  bool changed = false;
  for (ir::Node* n : graph.node_list()) changed = rule(graph, *n) || changed;
  return changed;
}

// The node that makes `v`, if it is a plain (not fused) `op`; null otherwise.
inline ir::Node* made_by(const ir::Value* v, std::string_view op) {
  return v && v->producer && v->producer->op() == op && !v->producer->body ? v->producer : nullptr;
}
// The Expand that makes `v`, if its result does not wait for a run to say whether its shape fits.
inline ir::Node* expand_of(const ir::Value* v) {
  ir::Node* expand = made_by(v, "Expand");
  return expand && !ir::is_checked_by_run(*expand) ? expand : nullptr;
}
// The only reader of `v`, if there is exactly one and `v` is no graph output.
inline ir::Node* only_user(const ir::Graph& graph, const ir::Value* v) {
  return v->users.size() == 1 && !graph.is_output(v) ? v->users[0] : nullptr;
}
// A constant's elements for a rule that decides by them; null if it may not. In a refittable build, of what may change only
// scalars are looked at (factors, epsilon, limits), and keep their value from then on: see ir::fix.
inline const Tensor* look(const ir::Value* v) {
  if (!v || !v->is_constant() || v->dtype() == DType::string) return nullptr;
  if (ir::may_change(*v->constant)) {
    if (v->rank() > 0) return nullptr;
    ir::fix(*v->constant, "built into the plan as a scalar");
  }
  return &v->constant->tensor;
}
// The value of a one-element constant.
inline std::optional<double> scalar_of(const ir::Value* v) {
  const bool one = v && v->is_constant() && v->constant->tensor.size() == 1;
  const Tensor* t = one ? look(v) : nullptr;
  return t ? std::optional(t->as_double(0)) : std::nullopt;
}
// The same of operand `side` of a node of two operands that computes with the other one element by element. A constant of more axes than
// the other operand has gives its axes to the result, so it is no mere number there.
inline std::optional<double> scalar_operand(const ir::Node& n, int side) {
  const ir::Value* beside = n.inputs.size() == 2 ? n.in(1 - side) : nullptr;
  return beside && n.out()->dims() == beside->dims() ? scalar_of(n.in(side)) : std::nullopt;
}
inline bool close(double a, double b, double relative = 1e-4) { return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b)); }
inline bool is_scalar(const ir::Value* v, double requested) {
  const auto s = scalar_of(v);
  return s && close(*s, requested);
}
inline bool is_scalar_operand(const ir::Node& n, int side, double requested) {
  const auto s = scalar_operand(n, side);
  return s && close(*s, requested);
}
inline ir::Value* number(ir::Graph& graph, float value) {
  Tensor t(DType::f32, {});
  *t.mutable_data<float>() = value;
  return graph.add_constant(std::move(t));
}
// The other operand of a binary node.
inline ir::Value* other(const ir::Node& n, const ir::Value* one) { return n.in(0) == one ? n.in(1) : n.in(0); }

}  // namespace tenfold::passes
