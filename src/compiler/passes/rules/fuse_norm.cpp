// fuse_norm: LayerNorm and RMSNorm written out as single operators become one node (Ba et al. 2016; Zhang and Sennrich 2019).
//
// before: (x f32[2,3,8], w f32[8]!, b f32[8]!)
//   two = f32[]{2.0}
//   eps = f32[]{0.00001}
//   m = ReduceMean(x) axes=[-1]
//   d = Sub(x, m)
//   q = Pow(d, two)
//   v = ReduceMean(q) axes=[-1]
//   e = Add(v, eps)
//   s = Sqrt(e)
//   n = Div(d, s)
//   g = Mul(n, w)
//   y = Add(g, b)
// after: (x f32[2,3,8], w f32[8]!, b f32[8]!)
//   y = LayerNormalization(x, w, b) epsilon=0.00001
//
// before: (x f32[2,3,8], w f32[3,8]!)
//   q = Mul(x, x)
//   v = ReduceMean(q) axes=[1,2] keepdims=1
//   s = Sqrt(v)
//   r = Reciprocal(s)
//   n = Mul(x, r)
//   y = Mul(w, n)
// after: (x f32[2,3,8], w f32[3,8]!)
//   y = RMSNormalization(x, w) epsilon=0.0 axis=-2
//
// kept: (x f32[3,8])
//   two = f32[]{2.0}
//   eps = f32[1,1,1]{0.5}
//   q = Pow(x, two)
//   v = ReduceMean(q) axes=[-1]
//   e = Add(v, eps)
//   s = Sqrt(e)
//   y = Div(x, s)
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

// A mean over the last dims: of what, and how many. The mean may have lost those dims and got them back by a Reshape.
struct Mean { Value* of = nullptr; int dims = 0; };
Mean mean_over_last(const Value* v) {
  if (v && v->producer && is_reshape(*v->producer)) {
    const Mean m = mean_over_last(v->producer->in(0));
    if (!m.of || v->rank() != m.of->rank()) return {};
    for (int d = 0; d < v->rank(); ++d)
      if (v->dims()[static_cast<std::size_t>(d)] != (d < v->rank() - m.dims ? m.of->dims()[static_cast<std::size_t>(d)] : ir::Dim(1)))
        return {};
    return m;
  }
  const Node* mean = made_by(v, "ReduceMean");
  const auto axes = mean ? reduced_axes(*mean) : std::nullopt;
  if (!axes || axes->empty()) return {};
  for (std::size_t i = 0; i < axes->size(); ++i)
    if ((*axes)[axes->size() - 1 - i] != mean->in(0)->rank() - 1 - static_cast<int>(i)) return {};
  return {mean->in(0), static_cast<int>(axes->size())};
}
// The same, of a vector it can be subtracted from or divide as it stands.
Mean mean_beside(const Value* v) {
  const Mean m = mean_over_last(v);
  return m.of && v->rank() == m.of->rank() ? m : Mean{};
}

Value* squared(const Value* v) {   // x, if v = x^2 or x*x
  if (Node* pow = made_by(v, "Pow")) return is_scalar_operand(*pow, 1, 2) ? pow->in(0) : nullptr;
  Node* mul = made_by(v, "Mul");
  return mul && mul->in(0) == mul->in(1) ? mul->in(0) : nullptr;
}

// What is divided by its own root mean square.
struct Normalized { Value* x = nullptr; int dims = 0; double epsilon = 0; };

// v = mean(x^2) + epsilon, where an exporter may have dropped an epsilon as too small to matter.
Normalized mean_square(const Value* v) {
  const Value* square = v;
  double epsilon = 0;
  if (Node* add = made_by(v, "Add"))
    for (int side = 0; side < 2; ++side)
      if (const auto e = scalar_operand(*add, 1 - side); e && !scalar_of(add->in(side))) epsilon = *e, square = add->in(side);
  const Mean m = mean_beside(square);
  Value* x = m.of ? squared(m.of) : nullptr;
  return x ? Normalized{x, m.dims, epsilon} : Normalized{};
}
// v = sqrt(mean(x^2) + epsilon), or the inverse of that.
Normalized root(const Value* v) {
  if (Node* sqrt = made_by(v, "Sqrt")) return mean_square(sqrt->in(0));
  Node* pow = made_by(v, "Pow");
  return pow && is_scalar_operand(*pow, 1, 0.5) ? mean_square(pow->in(0)) : Normalized{};
}
Normalized inverse_root(const Value* v) {
  if (Node* inverse = made_by(v, "Reciprocal")) return root(inverse->in(0));
  if (Node* div = made_by(v, "Div")) return is_scalar_operand(*div, 0, 1) ? root(div->in(1)) : Normalized{};
  Node* pow = made_by(v, "Pow");
  return pow && is_scalar_operand(*pow, 1, -0.5) ? mean_square(pow->in(0)) : Normalized{};
}

// n = x / rms(x) or x * (1 / rms(x)).
Normalized normalized(const Node& n) {
  if (n.op() == "Div") {
    const Normalized r = root(n.in(1));
    return r.x == n.in(0) ? r : Normalized{};
  }
  for (int side = 0; n.op() == "Mul" && side < 2; ++side) {
    const Normalized r = inverse_root(n.in(side));
    if (r.x && r.x == n.in(1 - side)) return r;
  }
  return {};
}

Value* ones(ir::Graph& graph, const ir::Dims& dims) {
  Tensor t(DType::f32, ir::constants(dims));
  for (std::int64_t i = 0; i < t.size(); ++i) t.mutable_data<float>()[i] = 1;
  return graph.add_constant(std::move(t));
}

// Follows `v` through a Mul with a tensor of these dims, and then an Add of one: scale and shift of a norm.
Value* affine_operand(ir::Graph& graph, Value*& v, const char* op, const ir::Dims& dims) {
  Node* next = only_user(graph, v);
  if (!next || next->op() != op || next->body || next->out()->dims() != v->dims()) return nullptr;
  Value* operand = other(*next, v);
  if (!operand || operand == v || operand->dims() != dims) return nullptr;
  v = next->out();
  return operand;
}

bool try_fuse(ir::Graph& graph, Node& n) {
  if (n.body) return false;
  const Normalized norm = normalized(n);
  Value* x = norm.x;
  if (!x || x->dtype() != DType::f32) return false;
  const ir::Dims last(x->dims().end() - norm.dims, x->dims().end());
  if (!ir::is_constant(last)) return false;
  Node* sub = made_by(x, "Sub");
  const Mean mean = sub ? mean_beside(sub->in(1)) : Mean{};
  const bool centered = mean.of && mean.of == sub->in(0) && mean.dims == norm.dims;
  Value* result = n.out();
  Value* scale = affine_operand(graph, result, "Mul", last);
  Value* shift = centered ? affine_operand(graph, result, "Add", last) : nullptr;
  if (!scale) scale = ones(graph, last);
  Node* end = result->producer;
  std::vector<Value*> operands{centered ? sub->in(0) : x, scale};
  if (shift) operands.push_back(shift);
  const ir::Attributes attributes{{"epsilon", static_cast<float>(norm.epsilon)}, {"axis", std::int64_t{-norm.dims}}};
  graph.replace_uses(result, graph.make(centered ? "LayerNormalization" : "RMSNormalization", operands, attributes, end));
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, try_fuse); }

}  // namespace

Pass pass_fuse_norm() { return {.name = "fuse_norm", .run = run}; }

}  // namespace tenfold::passes
