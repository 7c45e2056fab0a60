// remove_identity: nodes that return their operand unchanged are removed.
//
// before: (x f32[2,3])
//   a = Identity(x)
//   b = Cast(a) to="f32"
//   y = Relu(b)
// after: (x f32[2,3])
//   y = Relu(x)
//
// before: (x f16[2,3])
//   a = Cast(x) to="f32"
//   b = Cast(a) to="f16"
//   y = Relu(b)
// after: (x f16[2,3])
//   y = Relu(x)
//
// before: (x f32[2,3])
//   p = i64[4]{0,0,0,0}
//   a = Pad(x, p) mode="edge"
//   y = Relu(a)
// after: (x f32[2,3])
//   y = Relu(x)
//
// kept: (x f32[2,3])
//   p = i64[4]{1,0,-1,0}
//   y = Pad(x, p) mode="edge"
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

bool all_elements(const ir::Value* v, double requested) {
  if (!v || !v->is_constant() || v->constant->tensor.size() > 4096 || v->constant->tensor.size() == 0) return false;
  const Tensor* t = look(v);
  for (std::int64_t i = 0; t && i < t->size(); ++i)
    if (t->as_double(i) != requested) return false;
  return t != nullptr;
}

// Movement and casts are idle when the type stays: same element type, same dims, and nothing permuted.
bool idle(const ir::Node& n) {
  const ir::Value* x = n.in(0);
  if (!x || n.outputs.size() != 1 || x->type != n.out()->type || ir::is_checked_by_run(n)) return false;
  const std::string& op = n.op();
  if (op == "Identity" || op == "Cast") return true;
  if (op == "Reshape" || op == "Flatten" || op == "Expand" || op == "Squeeze" || op == "Unsqueeze" || op == "Tile") return true;
  if (op == "Slice") return !n.in(4) || all_elements(n.in(4), 1);
  if (op == "Pad") return all_elements(n.in(1), 0);
  if (op == "Transpose") {
    const auto perm = n.attributes.ints("perm", {});
    for (std::size_t i = 0; i < perm.size(); ++i)
      if (perm[i] != static_cast<std::int64_t>(i)) return false;
    return !perm.empty();
  }
  if (op == "Concat") return n.inputs.size() == 1;
  return false;
}

// x + 0, x - 0, x * 1, x / 1, x ^ 1, where the other operand does not widen the result.
ir::Value* neutral(const ir::Node& n) {
  const std::string& op = n.op();
  if (n.inputs.size() != 2 || n.body) return nullptr;
  const bool commutes = op == "Add" || op == "Mul";
  if (!commutes && op != "Sub" && op != "Div" && op != "Pow") return nullptr;
  const double element = op == "Add" || op == "Sub" ? 0 : 1;
  for (int side = 0; side < (commutes ? 2 : 1); ++side)
    if (all_elements(n.in(1 - side), element) && n.in(side)->type == n.out()->type) return n.in(side);
  return nullptr;
}

// What was widened, and is as narrow as before: every float of 16 bits is one of more bits.
ir::Value* widened(const ir::Node& n) {
  const ir::Node* wide = n.op() == "Cast" ? made_by(n.in(0), "Cast") : nullptr;
  if (!wide || wide->in(0)->type != n.out()->type) return nullptr;
  const DType narrow = n.out()->dtype(), between = wide->out()->dtype();
  const bool holds_all = between == DType::f32 || between == DType::f64;
  return holds_all && (narrow == DType::f16 || narrow == DType::bf16) ? wide->in(0) : nullptr;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (ir::Node* n : graph.node_list()) {
    ir::Value* source = idle(*n) ? n->in(0) : neutral(*n);
    if (!source) source = widened(*n);
    if (!source || n->body) continue;
    // A graph output that is a graph input or constant needs a node to carry its name.
    if (graph.is_output(n->out()) && (!source->producer || graph.is_output(source))) continue;
    graph.replace_uses(n->out(), source);
    changed = true;
  }
  return changed;
}

}  // namespace

Pass pass_remove_identity() { return {.name = "remove_identity", .run = run}; }

}  // namespace tenfold::passes
