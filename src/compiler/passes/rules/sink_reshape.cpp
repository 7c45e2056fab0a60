// sink_reshape: a Reshape that regroups leading dims moves after operators that work along the other dims: pointwise nodes, GEMMs,
// softmax, norms, reductions, transposes. GEMMs then meet their residuals, attention in three dims shows its heads, and pairs of
// reshapes cancel.
//
// before: (x f32[6,8], w f32[8,4]!, r f32[2,3,4])
//   to = i64[3]{2,3,4}
//   p = MatMul(x, w)
//   q = Reshape(p, to)
//   y = Add(q, r)
// after: (x f32[6,8], w f32[8,4]!, r f32[2,3,4])
//   from = i64[2]{6,4}
//   to = i64[3]{2,3,4}
//   p = MatMul(x, w)
//   f = Reshape(r, from) allowzero=1
//   a = Add(p, f)
//   y = Reshape(a, to) allowzero=1
//
// before: (q f32[2,3,4,5], k f32[2,3,5,6])
//   a = i64[3]{6,4,5}
//   b = i64[3]{6,5,6}
//   qr = Reshape(q, a)
//   kr = Reshape(k, b)
//   s = MatMul(qr, kr)
//   y = Softmax(s)
// after: (q f32[2,3,4,5], k f32[2,3,5,6])
//   c = i64[3]{6,4,6}
//   s = MatMul(q, k)
//   p = Softmax(s)
//   y = Reshape(p, c) allowzero=1
//
// before: (x f32[6,8], w f32[8,4]!)
//   to = i64[3]{2,3,4}
//   p = MatMul(x, w)
//   q = Reshape(p, to)
//   m = ReduceMax(q) axes=[-1]
//   s = Sub(q, m)
//   y = Exp(s)
// after: (x f32[6,8], w f32[8,4]!)
//   to = i64[3]{2,3,4}
//   p = MatMul(x, w)
//   m = ReduceMax(p) axes=[-1]
//   s = Sub(p, m)
//   e = Exp(s)
//   y = Reshape(e, to) allowzero=1
//
// kept: (x f32[2,1,8], r f32[2,1])
//   to = i64[2]{2,8}
//   q = Reshape(x, to)
//   y = Div(q, r)
//
// kept: (x f32[2,3,4], r f32[6,1,4])
//   to = i64[3]{6,1,4}
//   q = Reshape(x, to)
//   y = Softmax(q) axis=1
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Dims;
using ir::Node;
using ir::Value;

// A reshape of `from` to `to` whose last `tail` dims are the same.
struct Regrouping {
  Value* source = nullptr;
  Dims from, to;
  int tail = 0;
  Dims leading(const Dims& dims) const { return {dims.begin(), dims.end() - tail}; }
};

std::optional<Regrouping> regrouping(const Value* v) {
  if (!v || !v->producer || !is_reshape(*v->producer)) return std::nullopt;
  Regrouping r{v->producer->in(0), v->producer->in(0)->dims(), v->dims()};
  const int max = static_cast<int>(std::min(r.from.size(), r.to.size()));
  while (r.tail < max &&
         r.from[r.from.size() - 1 - static_cast<std::size_t>(r.tail)] == r.to[r.to.size() - 1 - static_cast<std::size_t>(r.tail)])
    ++r.tail;
  if (r.tail == 0 || r.from == r.to) return std::nullopt;
  if (r.from.size() > 4 && r.from.size() > r.to.size()) return std::nullopt;   // kernels and attention know up to four dims
  return r;
}

// Another operand of a pointwise node, for a result of dims `from` instead of `to`.
Value* matching(ir::Graph& graph, Value* v, const Regrouping& r, Node* before) {
  if (v->dims() == r.to) return reshape_to(graph, v, r.from, before);
  const auto rank = static_cast<int>(v->dims().size());
  // One number for each row, regrouped alike. A Reshape of its own would hide it from rules that look for it, as for a mean's count.
  if (rank == static_cast<int>(r.to.size()) && r.leading(v->dims()) == r.leading(r.to) && v->producer && is_reshape(*v->producer)) {
    Dims dims = r.leading(r.from);
    dims.insert(dims.end(), v->dims().end() - r.tail, v->dims().end());
    if (v->producer->in(0)->dims() == dims) return v->producer->in(0);
  }
  for (int i = 0; i < rank - r.tail; ++i)
    if (v->dims()[static_cast<std::size_t>(i)] != ir::Dim(1)) return nullptr;
  return rank <= r.tail ? v : reshape_to(graph, v, Dims(v->dims().end() - r.tail, v->dims().end()), before);
}

Value* past_pointwise(ir::Graph& graph, Node& n) {
  std::size_t at = 0;
  while (at < n.inputs.size() && !(regrouping(n.inputs[at]) && n.inputs[at]->dims() == n.out()->dims())) ++at;
  if (at == n.inputs.size()) return nullptr;
  const Regrouping r = *regrouping(n.inputs[at]);
  std::vector<Value*> operands;
  for (Value* v : n.inputs) {
    Value* moved = v == n.inputs[at] ? r.source : v ? matching(graph, v, r, &n) : nullptr;
    if (v && !moved) return nullptr;
    operands.push_back(moved);
  }
  return graph.add_like(n, operands, &n)->out();
}

// Softmax and norms, if they work along the tail. `to_the_end`: they work along all dims from the axis on.
Value* past_rows(ir::Graph& graph, Node& n) {
  const auto r = regrouping(n.in(0));
  if (!r) return nullptr;
  const auto rank = static_cast<std::int64_t>(r->to.size());
  std::int64_t axis = n.attributes.integer("axis", -1);
  if (axis >= 0) axis -= rank;
  if (-axis > r->tail) return nullptr;
  n.attributes.set("axis", axis);   // counted from the end it is the same for both ranks
  std::vector<Value*> operands = n.inputs;
  operands[0] = r->source;
  return graph.add_like(n, operands, &n)->out();
}

// Along axes of the tail, which keep their place.
Value* past_reduction(ir::Graph& graph, Node& n) {
  const auto r = regrouping(n.in(0));
  if (!r || n.inputs.size() > 1 || n.attributes.integer("keepdims", 1) == 0) return nullptr;
  ir::Ints axes = *reduced_axes(n);
  const auto rank = static_cast<std::int64_t>(r->to.size());
  for (std::int64_t& axis : axes)
    if ((axis -= rank) < -r->tail) return nullptr;
  n.attributes.set("axes", axes);
  return graph.add_like(n, {r->source}, &n)->out();
}

Value* past_product(ir::Graph& graph, Node& n) {
  const auto a = regrouping(n.in(0)), b = regrouping(n.in(1));
  if (a && n.in(1)->rank() == 2 && a->from.size() >= 2 && a->to.size() >= 2)
    return graph.add_like(n, {a->source, n.in(1)}, &n)->out();
  if (!a || !b || a->from.size() != b->from.size() || a->to.size() != b->to.size()) return nullptr;
  Regrouping left = *a, right = *b;
  left.tail = right.tail = 2;
  if (a->tail < 2 || b->tail < 2 || left.leading(a->from) != right.leading(b->from) || left.leading(a->to) != right.leading(b->to))
    return nullptr;
  return graph.add_like(n, {a->source, b->source}, &n)->out();
}

Value* past_transpose(ir::Graph& graph, Node& n) {
  const auto r = regrouping(n.in(0));
  if (!r) return nullptr;
  const ir::Ints perm = perm_of(n);
  const auto from = static_cast<std::int64_t>(r->from.size()), to = static_cast<std::int64_t>(r->to.size());
  ir::Ints moved;
  for (std::int64_t i = 0; i < from - r->tail; ++i) moved.push_back(i);
  for (std::int64_t i = 0; i < to; ++i) {
    const std::int64_t axis = perm[static_cast<std::size_t>(i)];
    if (i < to - r->tail && axis != i) return nullptr;
    if (i >= to - r->tail) moved.push_back(axis + from - to);
  }
  return transpose_by(graph, r->source, moved, &n);
}

Value* past(ir::Graph& graph, Node& n) {
  const std::string& op = n.op();
  if (n.def->scalar && n.def->pure && !n.inputs.empty()) return past_pointwise(graph, n);
  if (op == "Softmax" || op == "LogSoftmax" || op == "LayerNormalization" || op == "RMSNormalization") return past_rows(graph, n);
  if (op == "MatMul") return past_product(graph, n);
  if (is_reduction(n)) return past_reduction(graph, n);
  return op == "Transpose" ? past_transpose(graph, n) : nullptr;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (Node* n : graph.node_list()) {
    if (n->body || !n->graphs.empty() || n->outputs.size() != 1 || n->out()->type.kind != ir::ValueType::Kind::tensor ||
        !n->out()->type.ranked)
      continue;
    const bool reshapes_again = is_reshape(*n) && n->in(0)->producer && is_reshape(*n->in(0)->producer) && !graph.is_output(n->out());
    Value* moved = reshapes_again ? n->in(0) : past(graph, *n);   // what sank this far may meet its opposite
    Value* result = moved ? reshape_to(graph, moved, n->out()->dims(), n) : nullptr;
    if (!result) continue;
    graph.replace_uses(n->out(), result);
    changed = true;
  }
  return changed;
}

}  // namespace

Pass pass_sink_reshape() { return {.name = "sink_reshape", .run = run}; }

}  // namespace tenfold::passes
