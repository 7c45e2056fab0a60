// fuse_masked_mean: mean pooling of a sentence encoder becomes one node, with the L2 normalization that may follow. For GPUs, where
// each of the small steps costs as much as all of them together.
//
// before: (x f32[2,5,8], k i64[2,5])
//   to = i64[3]{2,5,1}
//   least = f32[]{0.000001}
//   row = i64[3]{2,1,5}
//   flat = i64[2]{2,8}
//   t = Reshape(k, to)
//   m = Cast(t) to="f32"
//   r = Reshape(m, row)
//   p = MatMul(r, x)
//   s = Reshape(p, flat)
//   n = ReduceSum(m) axes=[1] keepdims=0
//   c = Max(n, least)
//   y = Div(s, c)
// after: (x f32[2,5,8], k i64[2,5])
//   y = MaskedMean(x, k) least=0.000001
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Dims;
using ir::Node;
using ir::Value;

// x of max(x, least).
Value* limited(const Value* v, double& minimum) {
  Node* node = v ? v->producer : nullptr;
  if (!node || node->body || (node->op() != "Max" && node->op() != "Clip")) return nullptr;
  if (node->in(2)) return nullptr;   // an upper bound, or a third operand of Max
  const auto number = node->out()->dims() == node->in(0)->dims() ? scalar_of(node->in(1)) : std::nullopt;
  if (!number || !(*number > 0)) return nullptr;
  minimum = *number;
  return node->in(0);
}
// What a value is made of by changes of its dims alone.
Value* unshaped(Value* v) {
  while (v && v->producer && is_reshape(*v->producer) && !v->producer->body) v = v->producer->in(0);
  return v;
}
// The mask as the model gets it, if only its type was changed and what it is has the dims wanted.
Value* mask_after(Value* v, const Dims& dims) {
  Value* found = nullptr;
  for (v = unshaped(v); v; v = unshaped(v->producer->in(0))) {
    if (v->dims() == dims) found = v;
    const Node* cast = made_by(v, "Cast");
    if (!cast || !(cast->in(0)->dtype() == DType::boolean || is_integer(cast->in(0)->dtype()))) break;
  }
  return found;
}

struct Pooled {
  Value *x = nullptr, *mask = nullptr;
  double minimum = 0;
};
// v = (mask x x) / max(sum of mask, least)
Pooled pooled(const Value* v) {
  const Node* div = made_by(v, "Div");
  if (!div || v->rank() != 2) return {};
  const Node* product = made_by(unshaped(div->in(0)), "MatMul");
  if (!product || product->in(0)->rank() != 3 || product->in(1)->rank() != 3 || !(product->in(0)->dims()[1] == ir::Dim(1))) return {};
  Pooled p{product->in(1), nullptr, 0};
  const Value* count = limited(div->in(1), p.minimum);
  const Node* sum = made_by(unshaped(const_cast<Value*>(count)), "ReduceSum");
  const auto axes = sum ? reduced_axes(*sum) : std::nullopt;
  Value* weights = unshaped(product->in(0));
  if (!axes || *axes != ir::Ints{1} || unshaped(sum->in(0)) != weights || div->in(1)->dims() != Dims{v->dims()[0], ir::Dim(1)}) return {};
  p.mask = mask_after(weights, {p.x->dims()[0], p.x->dims()[1]});
  return p.mask && p.x->dtype() == DType::f32 && v->dims()[1] == p.x->dims()[2] ? p : Pooled{};
}
// The length that `v` is divided by: max(|v|, least), repeated or not.
bool divides_by_length(const Node& div, const Value* v, double& minimum) {
  const Value* by = div.in(1);
  if (const Node* expand = expand_of(by)) by = expand->in(0);
  const Node* length = made_by(limited(by, minimum), "ReduceL2");
  const auto axes = length ? reduced_axes(*length) : std::nullopt;
  return axes && *axes == ir::Ints{1} && length->in(0) == v && by->rank() == 2;
}

bool try_fuse(ir::Graph& graph, Node& n) {
  const Pooled p = n.op() == "Div" && !n.body ? pooled(n.out()) : Pooled{};
  if (!p.x) return false;
  ir::Attributes attributes{{"least", static_cast<float>(p.minimum)}};
  Node* last = &n;
  double minimum = 0;
  for (Node* user : n.out()->users)
    if (user->op() == "Div" && !user->body && user->in(0) == n.out() && n.out()->users.size() == 2 && !graph.is_output(n.out()) &&
        divides_by_length(*user, n.out(), minimum))
      last = user;
  if (last != &n) attributes.set("normalize", std::int64_t{1}), attributes.set("min_length", static_cast<float>(minimum));
  graph.replace_uses(last->out(), graph.make("MaskedMean", {p.x, p.mask}, attributes, last));
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, try_fuse); }

}  // namespace

Pass pass_fuse_masked_mean() { return {.name = "fuse_masked_mean", .run = run}; }

}  // namespace tenfold::passes
