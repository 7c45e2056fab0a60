// fuse_pooling: a sum over tokens of vectors times a mask with one number a token, as in the mean pooling of sentence encoders,
// becomes a GEMM of the mask with the matrix of tokens: one pass over the tokens, and the masked vectors are never stored.
//
// before: (x f32[2,5,8], m f32[2,5,1])
//   p = Mul(x, m)
//   y = ReduceSum(p) axes=[1] keepdims=0
// after: (x f32[2,5,8], m f32[2,5,1])
//   row = i64[3]{2,1,5}
//   flat = i64[2]{2,8}
//   r = Reshape(m, row) allowzero=1
//   p = MatMul(r, x)
//   y = Reshape(p, flat) allowzero=1
//
// kept: (x f32[2,5,8], m f32[2,1,8])
//   p = Mul(x, m)
//   y = ReduceSum(p) axes=[1] keepdims=0
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Dim;
using ir::Node;
using ir::Value;

bool try_fuse(ir::Graph& graph, Node& sum) {
  if (sum.op() != "ReduceSum" || sum.body || sum.in(0)->rank() != 3 || sum.out()->dtype() != DType::f32) return false;
  const auto axes = reduced_axes(sum);
  Node* mul = made_by(sum.in(0), "Mul");
  if (!axes || *axes != ir::Ints{1} || !mul || only_user(graph, mul->out()) != &sum) return false;
  for (int side = 0; side < 2; ++side) {
    Value *x = mul->in(side), *m = mul->in(1 - side);
    if (x->dims() != mul->out()->dims() || m->rank() != 3 || x->dims()[2] == Dim(1)) continue;
    if (m->dims()[0] != x->dims()[0] || m->dims()[1] != x->dims()[1] || m->dims()[2] != Dim(1)) continue;
    Value* row = reshape_to(graph, m, {m->dims()[0], Dim(1), m->dims()[1]}, &sum);
    if (!row) return false;
    Value* product = graph.make("MatMul", {row, x}, {}, &sum);
    Value* result = reshape_to(graph, product, sum.out()->dims(), &sum);
    if (!result) return false;
    graph.replace_uses(sum.out(), result);
    return true;
  }
  return false;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (Node* n : graph.node_list()) changed = try_fuse(graph, *n) || changed;
  return changed;
}

}  // namespace

Pass pass_fuse_pooling() { return {.name = "fuse_pooling", .run = run}; }

}  // namespace tenfold::passes
