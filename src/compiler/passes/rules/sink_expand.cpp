// sink_expand: an Expand moves after pointwise nodes and reductions and disappears where its reader broadcasts by itself, so that
// repeated values are computed once: above all masks.
//
// before: (x f32[2,5,8], m f32[2,5,1])
//   to = i64[3]{2,5,8}
//   e = Expand(m, to)
//   c = Abs(e)
//   p = Mul(x, c)
//   s = ReduceSum(p) axes=[1] keepdims=0
//   n = ReduceSum(c) axes=[1] keepdims=0
//   y = Div(s, n)
// after: (x f32[2,5,8], m f32[2,5,1])
//   c = Abs(m)
//   p = Mul(x, c)
//   s = ReduceSum(p) axes=[1] keepdims=0
//   n = ReduceSum(c) axes=[1] keepdims=0
//   y = Div(s, n)
//
// before: (x f32[1,2,8,8], m bool[1,1,1,8])
//   all = bool[1,1,8,1]{1,1,1,1,1,1,1,1}
//   zero = f32[]{0}
//   low = f32[]{-9}
//   b = And(all, m)
//   w = Where(b, zero, low)
//   y = Add(x, w)
// after: (x f32[1,2,8,8], m bool[1,1,1,8])
//   all = bool[]{1}
//   zero = f32[]{0}
//   low = f32[]{-9}
//   b = And(all, m)
//   w = Where(b, zero, low)
//   y = Add(x, w)
//
// kept: (x f32[2,1,8], m f32[1,5,1])
//   to = i64[3]{2,5,8}
//   e = Expand(x, to)
//   y = ReduceSum(e) axes=[1] keepdims=0
#include <algorithm>

#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

// What an Expand repeats, if it is `v`.
Value* narrow(const Value* v) {
  Node* expand = expand_of(v);
  return expand ? expand->in(0) : nullptr;
}
// The one number in a mask that is constant: exporters combine the caller's with a causal one that hides nothing.
Value* single(ir::Graph& graph, const Value* v) {
  if (!v || !v->is_constant() || v->dtype() != DType::boolean || v->rank() == 0) return nullptr;
  const Tensor* t = look(v);
  if (!t || t->size() < 2 || t->size() > 1 << 16) return nullptr;
  const bool* all = t->data<bool>();
  if (!std::all_of(all, all + t->size(), [&](bool one) { return one == all[0]; })) return nullptr;
  Tensor number(DType::boolean, {});
  *number.mutable_data<bool>() = all[0];
  return graph.add_constant(std::move(number));
}
Value* expanded(ir::Graph& graph, Value* v, const ir::Dims& dims, const Value* shape, Node* before) {
  if (v->dims() == dims) return v;
  if (shape && shape->contents && *shape->contents == dims) return graph.make("Expand", {v, const_cast<Value*>(shape)}, {}, before);
  if (!ir::is_constant(dims)) return nullptr;
  Tensor t(DType::i64, {static_cast<std::int64_t>(dims.size())});
  for (std::size_t i = 0; i < dims.size(); ++i) t.mutable_data<std::int64_t>()[i] = dims[i].constant();
  return graph.make("Expand", {v, graph.add_constant(std::move(t))}, {}, before);
}

// The node on what was expanded. Only the first Expand whose absence leaves the result's dims is dropped, or, if there is nothing
// but expanded operands and single numbers, all are and the result is expanded.
Value* past_pointwise(ir::Graph& graph, Node& n) {
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    Value* small = narrow(n.inputs[i]);
    if (!small) continue;
    ir::Dims others;
    for (std::size_t k = 0; k < n.inputs.size(); ++k)
      if (k != i && n.inputs[k]) others = broadcast(others, n.inputs[k]->dims());
    const bool fits = broadcast(others, small->dims()) == n.out()->dims();
    const bool alone = std::all_of(n.inputs.begin(), n.inputs.end(), [&](const Value* v) {
      return v == n.inputs[i] || (v && v->rank() <= small->rank() && ir::product(v->dims()) == ir::Dim(1));
    });
    if (!fits && !alone) continue;
    std::vector<Value*> operands = n.inputs;
    std::replace(operands.begin(), operands.end(), n.inputs[i], small);
    Value* result = graph.add_like(n, operands, &n)->out();
    return expanded(graph, result, n.out()->dims(), n.inputs[i]->producer->in(1), &n);
  }
  return nullptr;
}

Value* past_single(ir::Graph& graph, Node& n) {
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    if (!ir::is_constant(n.out()->dims())) continue;
    Value* number = single(graph, n.inputs[i]);
    if (!number) continue;
    std::vector<Value*> operands = n.inputs;
    operands[i] = number;
    Value* result = graph.add_like(n, operands, &n)->out();
    return expanded(graph, result, n.out()->dims(), nullptr, &n);
  }
  return nullptr;
}

// A reduction over dims that were not repeated.
Value* past_reduction(ir::Graph& graph, Node& n) {
  Value* small = narrow(n.in(0));
  if (!small || small->rank() != n.in(0)->rank()) return nullptr;
  const ir::Ints axes = *reduced_axes(n);
  for (const std::int64_t axis : axes)
    if (small->dims()[static_cast<std::size_t>(axis)] != n.in(0)->dims()[static_cast<std::size_t>(axis)]) return nullptr;
  std::vector<Value*> operands = n.inputs;
  operands[0] = small;
  Value* result = graph.add_like(n, operands, &n)->out();
  return expanded(graph, result, n.out()->dims(), n.in(0)->producer->in(1), &n);
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (Node* n : graph.node_list()) {
    if (n->body || !n->graphs.empty() || n->outputs.size() != 1) continue;
    const bool pointwise = n->def->scalar && n->def->pure;
    Value* moved = pointwise ? past_pointwise(graph, *n) : is_reduction(*n) && reduced_axes(*n) ? past_reduction(graph, *n) : nullptr;
    if (pointwise && !moved) moved = past_single(graph, *n);
    if (!moved) continue;
    graph.replace_uses(n->out(), moved);
    changed = true;
  }
  return changed;
}

}  // namespace

Pass pass_sink_expand() { return {.name = "sink_expand", .run = run}; }

}  // namespace tenfold::passes
