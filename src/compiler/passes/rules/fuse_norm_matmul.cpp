// fuse_norm_matmul: RMSNormalization of a few rows goes into the product that alone reads it, and of two products of the same rows, the one
// an operand of the other's epilogue (a gated feed-forward), one node is made. For GPUs, where each is a launch; the tuner undoes it
// where that is not faster (tune/choice/unfuse.h).
//
// before: (x f32[1,8], g f32[8]!, w f32[8,16]!)
//   n = RMSNormalization(x, g)
//   y = MatMul(n, w)
// after: (x f32[1,8], g f32[8]!, w f32[8,16]!)
//   y = NormMatMul(x, w, g)
//
// before: (x f32[1,8], g f32[8]!, w f32[8,16]!, u f32[8,16]!)
//   n = RMSNormalization(x, g)
//   s = MatMul(n, w) anchor_inputs=2 body={(f32) %1=sigmoid.f32(%0) %2=mul.f32(%0,%1) -> %2}
//   y = MatMul(n, u, s) anchor_inputs=2 body={(f32,f32) %2=mul.f32(%1,%0) -> %2}
// after: (x f32[1,8], g f32[8]!, w f32[8,16]!, u f32[8,16]!)
//   y = NormMatMul(x, w, g, u) combine="(f32,f32) %2=sigmoid.f32(%0) %3=mul.f32(%0,%2) %4=mul.f32(%3,%1) -> %4"
//
// before: (x f32[1,8], w f32[8,16]!, u f32[8,16]!)
//   s = MatMul(x, w) anchor_inputs=2 body={(f32) %1=sigmoid.f32(%0) -> %1}
//   y = MatMul(x, u, s) anchor_inputs=2 body={(f32,f32) %2=mul.f32(%1,%0) -> %2}
// after: (x f32[1,8], w f32[8,16]!, u f32[8,16]!)
//   y = NormMatMul(x, w, _, u) combine="(f32,f32) %2=sigmoid.f32(%0) %3=mul.f32(%2,%1) -> %3"
//
// kept: (x f32[100,8], g f32[8]!, w f32[8,16]!)
//   n = RMSNormalization(x, g)
//   y = MatMul(n, w)
//
// kept: (x f32[1,8], g f32[8]!, w f32[8,16]!, u f32[8,16]!)
//   n = RMSNormalization(x, g)
//   y = MatMul(n, w)
//   z = MatMul(n, u)
//   return y, z
//
// kept: (x f32[1,8], g f32[8]!, w f32[8,8]!)
//   n = RMSNormalization(x, g)
//   y = MatMul(n, w, n) anchor_inputs=2 body={(f32,f32) %2=add.f32(%0,%1) -> %2}
#include <algorithm>

#include "passes/deferred_norms.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

constexpr std::int64_t kFewRows = 8;   // as many as one kernel has (backends/cuda/codegen/gemm/gemv.h)

bool is_product_of_few_rows(const ir::Graph& graph, const Node& n) {
  if (n.op() != "MatMul" || n.outputs.size() != 1 || n.in(0)->rank() < 2 || n.in(0)->rank() != n.out()->rank()) return false;
  const Value* w = n.in(1);
  if (!w->is_constant() || w->rank() != 2 || w->dtype() != n.in(0)->dtype() || n.in(0)->is_constant()) return false;
  const ir::Dims& dims = n.in(0)->dims();
  return ir::product(std::span(dims).first(dims.size() - 1)).bounds(graph.box()).upper <= kFewRows;
}

// The product that alone feeds this one's epilogue, place by place, with no operands of its own but the same rows.
Node* gate_of(const ir::Graph& graph, const Node& n) {
  if (!is_product_of_few_rows(graph, n)) return nullptr;
  if (!n.body || n.anchor_inputs != 2 || n.inputs.size() != 3 || n.body->outputs.size() != 1 || n.body->reduced_rank > 0) return nullptr;
  const Value* v = n.in(2);
  Node* gate = v->producer;
  if (!gate || gate == &n || !is_product_of_few_rows(graph, *gate) || gate->in(0) != n.in(0) || only_user(graph, v) != &n) return nullptr;
  if (gate->inputs.size() != 2 || gate->in(1)->dims() != n.in(1)->dims() || gate->numerics != n.numerics) return nullptr;
  if (gate->body && (gate->body->outputs.size() != 1 || gate->body->reduced_rank > 0)) return nullptr;
  const DType type = n.in(0)->dtype();
  const auto first = [&](const Node& product) { return product.body ? product.body->inputs[0] : type; };
  const bool one_type = v->dtype() == type && n.out()->dtype() == type && first(*gate) == type && first(n) == type;
  return one_type && v->dims() == n.out()->dims() ? gate : nullptr;
}

// What becomes of both products: the gate's epilogue, then that of the other one.
ir::Body combination(const Node& gate, const Node& n) {
  const DType type = n.in(0)->dtype();
  const ir::Body none{{type}, {}, {0}, 0}, &own = gate.body ? *gate.body : none;
  return ir::compose(own, *n.body, {-1, own.outputs[0]});
}

// The norm of rows that only these products multiply: one that its own epilogue adds is still needed.
Node* norm_of(const ir::Graph& graph, const Value* rows, const Node* one, const Node* other) {
  Node* norm = made_by(rows, "RMSNormalization");
  if (!norm || graph.is_output(rows) || norm->in(0)->dtype() != rows->dtype()) return nullptr;
  const std::int64_t axis = norm->attributes.integer("axis");
  if ((axis != -1 && axis != rows->rank() - 1) || norm->in(1)->dims() != ir::Dims{rows->dims().back()}) return nullptr;
  const auto reads = [&](const Node* user) { return (user == one || user == other) && multiplies(*user, rows); };
  return std::all_of(rows->users.begin(), rows->users.end(), reads) ? norm : nullptr;
}

bool try_fuse(ir::Graph& graph, Node& n) {
  Node* gate = gate_of(graph, n);
  Node* norm = norm_of(graph, n.in(0), &n, gate);
  if (!gate && !norm) return false;
  Node fused;
  fused.def = &graph.registry().get("NormMatMul"), fused.name = n.name, fused.numerics = n.numerics;
  fused.inputs = {norm ? norm->in(0) : n.in(0), gate ? gate->in(1) : n.in(1), norm ? norm->in(1) : nullptr, gate ? n.in(1) : nullptr};
  if (norm) fused.attributes.set("epsilon", norm->attributes.number("epsilon"));
  if (gate) {
    fused.attributes.set("combine", ir::text(combination(*gate, n)));
  } else if (n.body) {
    fused.body = n.body, fused.anchor_inputs = 4;
    fused.inputs.insert(fused.inputs.end(), n.inputs.begin() + n.anchor_inputs, n.inputs.end());
  }
  while (!fused.body && !fused.inputs.back()) fused.inputs.pop_back();
  const Node* made = graph.add(std::move(fused), 1, &n);
  graph.replace_uses(n.out(), made->out());
  graph.erase(n);
  if (gate) graph.erase(*gate);
  if (norm) graph.erase(*norm);
  return true;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (Node* n : graph.node_list()) {
    const bool feeds = n->op() == "MatMul" && n->out() && n->out()->users.size() == 1 && gate_of(graph, *n->out()->users[0]) == n;
    if (!feeds && is_product_of_few_rows(graph, *n)) changed = try_fuse(graph, *n) || changed;   // a gate goes with its reader
  }
  return changed;
}

}  // namespace

Pass pass_fuse_norm_matmul() { return {.name = "fuse_norm_matmul", .run = run}; }

}  // namespace tenfold::passes
