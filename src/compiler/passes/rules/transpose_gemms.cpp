// transpose_gemms: a Transpose of leading dims moves from before a GEMM to after it, and past a Reshape that only splits the last
// dim; after a GEMM whose operand is transposed anyway it moves before it. There it meets its inverse.
//
// before: (x f32[3,5,8], w f32[8,12]!)
//   s = i64[4]{5,3,2,6}
//   t = Transpose(x) perm=[1,0,2]
//   p = MatMul(t, w)
//   r = Reshape(p, s)
//   y = Relu(r)
// after: (x f32[3,5,8], w f32[8,12]!)
//   s = i64[4]{3,5,2,6}
//   p = MatMul(x, w)
//   r = Reshape(p, s) allowzero=1
//   t = Transpose(r) perm=[1,0,2,3]
//   y = Relu(t)
//
// before: (x f32[3,2,5,4], w f32[8,12]!, b f32[12]!)
//   s = i64[2]{15,8}
//   l = i64[3]{5,3,12}
//   t = Transpose(x) perm=[2,0,1,3]
//   r = Reshape(t, s)
//   p = MatMul(r, w)
//   a = Add(p, b)
//   q = Reshape(a, l)
//   u = Transpose(q) perm=[1,0,2]
//   y = Relu(u)
// after: (x f32[3,2,5,4], w f32[8,12]!, b f32[12]!)
//   s = i64[3]{3,5,8}
//   t = Transpose(x) perm=[0,2,1,3]
//   r = Reshape(t, s) allowzero=1
//   p = MatMul(r, w)
//   a = Add(p, b)
//   y = Relu(a)
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Dims;
using ir::Ints;
using ir::Node;
using ir::Value;

// The permutation of a Transpose that leaves the last dim where it is; empty: it is none.
Ints leading_perm(const Node* t) {
  const Ints perm = t ? perm_of(*t) : Ints{};
  return !perm.empty() && perm.back() == static_cast<std::int64_t>(perm.size()) - 1 ? perm : Ints{};
}
bool is_plain_gemm(const Node* n) { return n && n->op() == "MatMul" && !n->body && n->in(1)->rank() == 2 && n->inputs.size() == 2; }

bool is_vector(const Value* v) { return v && v->is_constant() && v->rank() == 1; }

// Is this read by a Reshape alone, behind the sum with a vector at most? Elsewhere the Transpose would only meet more elements.
bool is_split_next(const ir::Graph& graph, const Value* v) {
  const Node* next = only_user(graph, v);
  if (next && next->op() == "Add" && !next->body && is_vector(other(*next, v))) next = only_user(graph, next->out());
  return next && is_reshape(*next) && next->out()->rank() > v->rank();
}

// MatMul(T(x), w) = T(MatMul(x, w)), and T(x) + b = T(x + b)
Value* after_product(ir::Graph& graph, Node& n) {
  const bool sum = n.op() == "Add" && is_vector(n.in(1 - (made_by(n.in(0), "Transpose") ? 0 : 1)));
  if ((!sum && !is_plain_gemm(&n)) || !is_split_next(graph, n.out())) return nullptr;
  const std::size_t side = sum && !made_by(n.in(0), "Transpose") ? 1 : 0;
  const Node* t = made_by(n.inputs[side], "Transpose");
  const Ints perm = leading_perm(t);
  if (perm.empty()) return nullptr;
  std::vector<Value*> operands = n.inputs;
  operands[side] = t->in(0);
  return transpose_by(graph, graph.add_like(n, operands, &n)->out(), perm, &n);
}

// Reshape(T(x)), where the Reshape splits the last dim and may put ones in front.
Value* after_split(ir::Graph& graph, Node& n) {
  const Node* t = is_reshape(n) ? made_by(n.in(0), "Transpose") : nullptr;
  const Ints perm = leading_perm(t);
  const Dims &from = n.in(0)->dims(), &to = n.out()->dims();
  if (perm.empty() || to.size() <= from.size()) return nullptr;
  const std::size_t lead = perm.size() - 1;
  std::size_t ones = 0;
  while (ones + lead < to.size() && to[ones] == ir::Dim(1) &&
         !std::equal(from.begin(), from.end() - 1, to.begin() + static_cast<std::ptrdiff_t>(ones)))
    ++ones;
  if (ones + lead >= to.size() || !std::equal(from.begin(), from.end() - 1, to.begin() + static_cast<std::ptrdiff_t>(ones))) return nullptr;
  Dims split(ones, ir::Dim(1));
  Ints moved;
  for (std::size_t i = 0; i < ones; ++i) moved.push_back(static_cast<std::int64_t>(i));
  for (std::size_t i = 0; i < lead; ++i) {
    split.push_back(t->in(0)->dims()[i]);
    moved.push_back(perm[i] + static_cast<std::int64_t>(ones));
  }
  for (std::size_t i = ones + lead; i < to.size(); ++i) split.push_back(to[i]), moved.push_back(static_cast<std::int64_t>(i));
  Value* reshaped = reshape_to(graph, t->in(0), split, &n);
  return reshaped ? transpose_by(graph, reshaped, moved, &n) : nullptr;
}

// T(Reshape(MatMul(Reshape(T'(x)), w) + bias)): the product in the order that T gives, on one transpose.
Value* before_product(ir::Graph& graph, Node& n) {
  const Ints perm = n.op() == "Transpose" ? leading_perm(&n) : Ints{};
  if (perm.empty()) return nullptr;
  Value* v = n.in(0);
  if (!only_user(graph, v)) return nullptr;
  const Dims shape = v->dims();   // before T
  if (v->producer && is_reshape(*v->producer)) v = v->producer->in(0);
  Value* bias = nullptr;
  if (const Node* add = made_by(v, "Add"); add && only_user(graph, v))
    for (int side = 0; side < 2 && !bias; ++side)
      if (add->in(side)->is_constant() && add->in(side)->rank() == 1 && is_plain_gemm(add->in(1 - side)->producer))
        bias = add->in(side), v = add->in(1 - side);
  const Node* product = v->producer;
  if (!is_plain_gemm(product) || !only_user(graph, v) || !(v->dims().back() == shape.back())) return nullptr;
  const Value* x = product->in(0);
  const Node* inner = x->producer && is_reshape(*x->producer) ? made_by(x->producer->in(0), "Transpose") : nullptr;
  if (!inner || inner->out()->rank() < static_cast<int>(shape.size())) return nullptr;
  const std::size_t lead = shape.size() - 1;
  const Dims& split = inner->out()->dims();
  if (!std::equal(shape.begin(), shape.end() - 1, split.begin()) ||
      !(ir::product(std::span(split).subspan(lead)) == x->dims().back()))
    return nullptr;
  const Ints first = perm_of(*inner);
  Ints both;   // the inner one, then that of its leading dims
  for (std::size_t i = 0; i < split.size(); ++i) both.push_back(first[i < lead ? static_cast<std::size_t>(perm[i]) : i]);
  Dims dims = n.out()->dims();
  dims.back() = x->dims().back();
  Value* operand = reshape_to(graph, transpose_by(graph, inner->in(0), both, &n), dims, &n);
  if (!operand) return nullptr;
  Value* result = graph.add_like(*product, {operand, product->in(1)}, &n)->out();
  return bias ? graph.make("Add", {result, bias}, {}, &n) : result;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (Node* n : graph.node_list()) {
    if (n->body || n->outputs.size() != 1 || graph.is_output(n->out())) continue;
    Value* moved = after_product(graph, *n);
    if (!moved) moved = after_split(graph, *n);
    if (!moved) moved = before_product(graph, *n);
    if (!moved || moved->dims() != n->out()->dims()) continue;
    graph.replace_uses(n->out(), moved);
    changed = true;
  }
  return changed;
}

}  // namespace

Pass pass_transpose_gemms() { return {.name = "transpose_gemms", .run = run}; }

}  // namespace tenfold::passes
