// fuse_softmax: exponentials divided by their sum become Softmax, whether or not the maximum is subtracted before.
//
// Without this subtraction, exp overflows above 88 and Softmax does not: results that were NaN become numbers.
//
// before: (x f32[2,3,8])
//   m = ReduceMax(x) axes=[-1]
//   d = Sub(x, m)
//   e = Exp(d)
//   s = ReduceSum(e) axes=[2]
//   y = Div(e, s)
// after: (x f32[2,3,8])
//   y = Softmax(x) axis=2
//
// before: (x f32[2,3,8])
//   e = Exp(x)
//   s = ReduceSum(e) axes=[1]
//   y = Div(e, s)
// after: (x f32[2,3,8])
//   y = Softmax(x) axis=1
//
// kept: (x f32[2,3,8])
//   e = Exp(x)
//   s = ReduceSum(e) axes=[1,2]
//   y = Div(e, s)
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

// The one axis of a reduction that keeps its dim, or -1.
std::int64_t only_axis(const Node* reduction) {
  if (!reduction || reduction->attributes.integer("keepdims", 1) == 0) return -1;
  const auto axes = reduced_axes(*reduction);
  return axes && axes->size() == 1 ? axes->front() : -1;
}

bool try_fuse(ir::Graph& graph, Node& div) {
  if (div.op() != "Div" || div.body || div.out()->dtype() != DType::f32) return false;
  const Node* exp = made_by(div.in(0), "Exp");
  const Node* sum = made_by(div.in(1), "ReduceSum");
  const std::int64_t axis = only_axis(sum);
  if (!exp || axis < 0 || sum->in(0) != exp->out()) return false;
  Value* x = exp->in(0);
  if (const Node* sub = made_by(x, "Sub")) {
    const Node* max = made_by(sub->in(1), "ReduceMax");
    if (max && max->in(0) == sub->in(0) && only_axis(max) == axis) x = sub->in(0);
  }
  graph.replace_uses(div.out(), graph.make("Softmax", {x}, {{"axis", axis}}, &div));
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, try_fuse); }

}  // namespace

Pass pass_fuse_softmax() { return {.name = "fuse_softmax", .run = run}; }

}  // namespace tenfold::passes
