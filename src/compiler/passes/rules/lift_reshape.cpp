// lift_reshape: a Reshape after a GEMM moves before it, so that the GEMM meets the residual that is added to it there.
//
// before: (x f32[6,8], w f32[8,4]!, r f32[1,6,4])
//   to = i64[3]{1,6,4}
//   p = MatMul(x, w)
//   q = Reshape(p, to)
//   y = Add(q, r)
// after: (x f32[6,8], w f32[8,4]!, r f32[1,6,4])
//   to = i64[3]{1,6,8}
//   q = Reshape(x, to) allowzero=1
//   p = MatMul(q, w)
//   y = Add(p, r)
//
// kept: (x f32[6,8], w f32[8,4]!)
//   to = i64[2]{3,8}
//   p = MatMul(x, w)
//   y = Reshape(p, to)
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

bool try_lift(ir::Graph& graph, Node& n) {
  if (n.op() != "MatMul" || n.outputs.size() != 1 || n.in(1)->rank() != 2 || n.in(0)->rank() < 2) return false;
  const Node* reshape = only_user(graph, n.out());
  if (!reshape || !is_reshape(*reshape) || graph.is_output(reshape->out())) return false;
  ir::Dims dims = reshape->out()->dims();
  if (dims.size() < 2 || !(dims.back() == n.out()->dims().back())) return false;
  for (std::size_t i = 2; i < n.inputs.size(); ++i)
    if (n.inputs[i] && n.inputs[i]->rank() > 1) return false;
  dims.back() = n.in(0)->dims().back();
  Value* x = reshape_to(graph, n.in(0), dims, &n);
  if (!x) return false;
  Node copy;
  copy.def = n.def, copy.attributes = n.attributes, copy.name = n.name, copy.anchor_inputs = n.anchor_inputs, copy.numerics = n.numerics;
  copy.inputs = n.inputs, copy.body = n.body;
  copy.inputs[0] = x;
  graph.replace_uses(reshape->out(), graph.add(std::move(copy), 1, &n)->out());
  return true;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (Node* n : graph.node_list()) changed = try_lift(graph, *n) || changed;
  return changed;
}

}  // namespace

Pass pass_lift_reshape() { return {.name = "lift_reshape", .run = run}; }

}  // namespace tenfold::passes
