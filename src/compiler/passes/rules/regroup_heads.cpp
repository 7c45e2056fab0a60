// regroup_heads: torch's attention over [tokens, batch, channels] merges batch and heads into one dim, which no view of its operands
// has. Kept separate, they are strides.
//
// before: (x f32[5,2,12], z f32[5,2,12], u f32[5,2,12])
//   m = i64[3]{5,6,4}
//   h = i64[4]{1,6,5,4}
//   a = Reshape(x, m)
//   b = Reshape(z, m)
//   c = Reshape(u, m)
//   at = Transpose(a) perm=[1,0,2]
//   bt = Transpose(b) perm=[1,0,2]
//   ct = Transpose(c) perm=[1,0,2]
//   q = Reshape(at, h)
//   k = Reshape(bt, h)
//   v = Reshape(ct, h)
//   y = FusedAttention(q, k, v) scale=0.5
// after: (x f32[5,2,12], z f32[5,2,12], u f32[5,2,12])
//   s = i64[4]{5,2,3,4}
//   h = i64[4]{1,6,5,4}
//   a = Reshape(x, s) allowzero=1
//   at = Transpose(a) perm=[1,2,0,3]
//   b = Reshape(z, s) allowzero=1
//   bt = Transpose(b) perm=[1,2,0,3]
//   c = Reshape(u, s) allowzero=1
//   ct = Transpose(c) perm=[1,2,0,3]
//   r = FusedAttention(at, bt, ct) scale=0.5
//   y = Reshape(r, h) allowzero=1
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Dim;
using ir::Node;
using ir::Value;

// [..., batch, heads * size] with as many tokens in front, behind what makes [1, batch * heads, tokens, size] of it; or null.
Value* source_of(const Value* v) {
  if (!v || !v->producer || !is_reshape(*v->producer) || v->rank() != 4 || !(v->dims()[0] == Dim(1))) return nullptr;
  const Node* transpose = made_by(v->producer->in(0), "Transpose");
  if (!transpose || perm_of(*transpose) != ir::Ints{1, 0, 2}) return nullptr;
  const Value* merged = transpose->in(0);
  if (!merged->producer || !is_reshape(*merged->producer)) return nullptr;
  Value* source = merged->producer->in(0);
  const ir::Dims &from = source->dims(), &to = merged->dims();
  if (from.size() < 3 || !ir::is_constant(from) || !ir::is_constant(to)) return nullptr;
  const std::int64_t batch = from[from.size() - 2].constant(), channels = from.back().constant(), size = to[2].constant();
  if (size < 1 || batch < 1 || channels % size != 0 || to[1].constant() != batch * (channels / size)) return nullptr;
  return v->dims()[1] == to[1] && v->dims()[2] == to[0] && v->dims()[3] == to[2] ? source : nullptr;
}

bool try_regroup(ir::Graph& graph, Node& n) {
  if (n.op() != "FusedAttention" || n.body || n.in(3) || n.inputs.size() > 3) return false;
  std::vector<Value*> operands;
  Dim batch;
  for (std::size_t i = 0; i < 3; ++i) {
    Value* source = source_of(n.inputs[i]);
    if (!source) return false;
    const Dim here = source->dims()[source->dims().size() - 2], size = n.inputs[i]->dims()[3];
    if (i > 0 && !(here == batch)) return false;
    batch = here;
    const Dim heads(n.inputs[i]->dims()[1].constant() / batch.constant());
    Value* split = reshape_to(graph, source, {n.inputs[i]->dims()[2], batch, heads, size}, &n);
    if (!split) return false;
    operands.push_back(transpose_by(graph, split, {1, 2, 0, 3}, &n));
  }
  if (batch == Dim(1)) return false;   // all views as it is
  Value* result = reshape_to(graph, graph.add_like(n, operands, &n)->out(), n.out()->dims(), &n);
  if (!result) return false;
  graph.replace_uses(n.out(), result);
  return true;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (Node* n : graph.node_list()) changed = try_regroup(graph, *n) || changed;
  return changed;
}

}  // namespace

Pass pass_regroup_heads() { return {.name = "regroup_heads", .run = run}; }

}  // namespace tenfold::passes
