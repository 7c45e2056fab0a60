// sink_transpose: transposes move after pointwise nodes, reductions, softmax, concat, split, slice and pad until they meet one that
// undoes them, as around every convolution of a model from a channels-last framework. The graph is only changed if transposes
// disappear.
//
// before: (x f32[1,4,6,3], w f32[8,3,3,3]!, b f32[8]!, u f32[5,8,1,1]!)
//   a = Transpose(x) perm=[0,3,1,2]
//   c = Conv(a, w) kernel_shape=[3,3]
//   d = Transpose(c) perm=[0,2,3,1]
//   e = Add(d, b)
//   f = Relu(e)
//   g = Transpose(f) perm=[0,3,1,2]
//   h = Conv(g, u) kernel_shape=[1,1]
//   i = Transpose(h) perm=[0,2,3,1]
//   y = ReduceMean(i) axes=[1,2] keepdims=0
// after: (x f32[1,4,6,3], w f32[8,3,3,3]!, b f32[8]!, u f32[5,8,1,1]!)
//   t = i64[4]{1,8,1,1}
//   a = Transpose(x) perm=[0,3,1,2]
//   c = Conv(a, w) kernel_shape=[3,3]
//   bt = Reshape(b, t) allowzero=1
//   e = Add(c, bt)
//   f = Relu(e)
//   h = Conv(f, u) kernel_shape=[1,1]
//   y = ReduceMean(h) axes=[2,3] keepdims=0
//
// kept: (x f32[1,4,6,3])
//   a = Transpose(x) perm=[0,3,1,2]
//   y = Relu(a)
#include <algorithm>

#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Ints;
using ir::Node;
using ir::Value;

std::int64_t at(const Ints& perm, std::int64_t axis) {
  return perm[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(perm.size()) : axis)];
}

// An operand that broadcasts to the transposed value, for the value as it was; null if that would cost a transpose.
Value* untransposed(ir::Graph& graph, Value* v, const Ints& perm, Node* before) {
  if (const Node* t = made_by(v, "Transpose"); t && perm_of(*t) == perm) return t->in(0);
  if (ir::product(v->dims()) == ir::Dim(1) && v->rank() <= static_cast<int>(perm.size())) return v;
  ir::Dims dims(perm.size() - static_cast<std::size_t>(v->rank()), ir::Dim(1)), moved(perm.size(), ir::Dim(1));
  dims.insert(dims.end(), v->dims().begin(), v->dims().end());
  std::int64_t last = -1;
  bool in_order = true;   // the extents above 1 keep their order: a reshape does
  for (std::size_t i = 0; i < perm.size(); ++i) moved[static_cast<std::size_t>(perm[i])] = dims[i];
  for (const std::int64_t axis : inverse(perm)) {
    if (dims[static_cast<std::size_t>(axis)] == ir::Dim(1)) continue;
    in_order = in_order && axis > last;
    last = axis;
  }
  if (in_order) return reshape_to(graph, v, moved, before);
  if (!v->is_constant()) return nullptr;
  Value* full = reshape_to(graph, v, dims, before);
  return full ? transpose_by(graph, full, inverse(perm), before) : nullptr;
}

struct Sunk { Node* node = nullptr; Ints perm; };   // the node on untransposed operands, and how its results are to be transposed

// The same node over other operands, along other axes.
template <class Axes>
Node* along(ir::Graph& graph, Node& n, std::vector<Value*> operands, const char* attribute, const Axes& axes) {
  ir::Attributes attributes = n.attributes;
  attributes.set(attribute, axes);
  Node* made = graph.add(n.op(), std::move(operands), attributes, static_cast<int>(n.outputs.size()), n.name, &n);
  made->numerics = n.numerics;
  return made;
}

Sunk past_pointwise(ir::Graph& graph, Node& n, const Ints& perm) {
  std::vector<Value*> operands;
  for (Value* v : n.inputs) {
    if (v && v->rank() > static_cast<int>(perm.size())) return {};
    Value* moved = v ? untransposed(graph, v, perm, &n) : nullptr;
    if (v && !moved) return {};
    operands.push_back(moved);
  }
  return {graph.add_like(n, operands, &n), perm};
}

Sunk past_reduction(ir::Graph& graph, Node& n, Value* source, const Ints& perm) {
  Ints axes = *reduced_axes(n);
  for (std::int64_t& axis : axes) axis = at(perm, axis);
  std::sort(axes.begin(), axes.end());
  Sunk sunk{along(graph, n, {source}, "axes", axes), perm};
  if (n.attributes.integer("keepdims") != 0) return sunk;
  sunk.perm.clear();
  for (const std::int64_t axis : perm) {
    if (std::binary_search(axes.begin(), axes.end(), axis)) continue;
    sunk.perm.push_back(axis - (std::lower_bound(axes.begin(), axes.end(), axis) - axes.begin()));
  }
  return sunk;
}

Sunk past_axis(ir::Graph& graph, Node& n, Value* source, const Ints& perm, std::int64_t default_axis) {
  std::vector<Value*> operands = n.inputs;
  operands[0] = source;
  return {along(graph, n, operands, "axis", at(perm, n.attributes.integer("axis", default_axis))), perm};
}

Sunk past_concat(ir::Graph& graph, Node& n, const Ints& perm) {
  std::vector<Value*> operands;
  for (Value* v : n.inputs) {
    const Node* t = made_by(v, "Transpose");
    if (t && perm_of(*t) == perm) operands.push_back(t->in(0));
    else if (v->is_constant()) operands.push_back(transpose_by(graph, v, inverse(perm), &n));
    else return {};
  }
  return {along(graph, n, operands, "axis", at(perm, n.attributes.integer("axis", 0))), perm};
}

Value* list(ir::Graph& graph, const Ints& values) {
  Tensor t(DType::i64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.mutable_data<std::int64_t>());
  return graph.add_constant(std::move(t));
}
std::optional<Ints> ints_of(const Value* v) {
  if (!v || !v->contents || !ir::is_constant(*v->contents)) return std::nullopt;
  Ints values;
  for (const ir::Dim& d : *v->contents) values.push_back(d.constant());
  return values;
}

Sunk past_slice(ir::Graph& graph, Node& n, Value* source, const Ints& perm) {
  Ints axes;
  if (n.in(3)) {
    const auto given = ints_of(n.in(3));
    if (!given) return {};
    axes = *given;
  } else {
    if (n.in(1)->rank() != 1 || !n.in(1)->dims()[0].is_constant()) return {};
    for (std::int64_t i = 0; i < n.in(1)->dims()[0].constant(); ++i) axes.push_back(i);
  }
  for (std::int64_t& axis : axes) axis = at(perm, axis);
  std::vector<Value*> operands{source, n.in(1), n.in(2), list(graph, axes)};
  if (n.in(4)) operands.push_back(n.in(4));
  return {graph.add_like(n, operands, &n), perm};
}

Sunk past_pad(ir::Graph& graph, Node& n, Value* source, const Ints& perm) {
  const auto pads = ints_of(n.in(1));
  if (!pads || n.in(3) || pads->size() != 2 * perm.size()) return {};
  Ints moved(pads->size());
  for (std::size_t i = 0; i < perm.size(); ++i)
    for (std::size_t side = 0; side < 2; ++side)
      moved[static_cast<std::size_t>(perm[i]) + side * perm.size()] = (*pads)[i + side * perm.size()];
  std::vector<Value*> operands{source, list(graph, moved)};
  if (n.in(2)) operands.push_back(n.in(2));
  return {graph.add_like(n, operands, &n), perm};
}

bool one_scale(const Node& n) {
  return n.in(1) && ir::product(n.in(1)->dims()) == ir::Dim(1) && n.attributes.integer("block_size", 0) == 0;
}

Sunk past(ir::Graph& graph, Node& n, Value* source, const Ints& perm) {
  const std::string& op = n.op();
  if (n.def->scalar && n.def->pure) return n.out()->rank() == static_cast<int>(perm.size()) ? past_pointwise(graph, n, perm) : Sunk{};
  if (reduced_axes(n)) return past_reduction(graph, n, source, perm);
  if (op == "Softmax" || op == "LogSoftmax") return past_axis(graph, n, source, perm, -1);
  if (op == "Split") return past_axis(graph, n, source, perm, 0);
  if (op == "Concat") return past_concat(graph, n, perm);
  if (op == "Slice") return past_slice(graph, n, source, perm);
  if (op == "Pad") return past_pad(graph, n, source, perm);
  if ((op == "QuantizeLinear" || op == "DequantizeLinear") && one_scale(n)) {
    std::vector<Value*> operands = n.inputs;
    operands[0] = source;
    return {graph.add_like(n, operands, &n), perm};
  }
  return {};
}

// Moves every transpose as far down as it goes. Transposes of transposes merge on the way.
void sink_all(ir::Graph& graph) {
  for (Node* n : graph.node_list()) {
    if (n->body || !n->graphs.empty()) continue;
    const Node* above = nullptr;
    for (const Value* v : n->inputs)
      if (!above) above = made_by(v, "Transpose");
    if (!above) continue;
    const Ints perm = perm_of(*above);
    if (n->op() == "Transpose") {
      Ints both;
      for (const std::int64_t axis : perm_of(*n)) both.push_back(at(perm, axis));
      graph.replace_uses(n->out(), transpose_by(graph, above->in(0), both, n));
      continue;
    }
    if (!n->def->scalar && n->op() != "Concat" && n->in(0)->producer != above) continue;
    const Sunk sunk = past(graph, *n, above->in(0), perm);
    if (!sunk.node) continue;
    for (std::size_t i = 0; i < n->outputs.size(); ++i)
      graph.replace_uses(n->outputs[i], transpose_by(graph, sunk.node->outputs[i], sunk.perm, n));
  }
  graph.sweep();
}

// Transposes that move elements of something that is not constant.
int count(const ir::Graph& graph) {
  int transposes = 0;
  for (const auto& n : graph.nodes()) {
    if (n->op() != "Transpose" || n->in(0)->is_constant() ||
        (n->in(0)->producer && n->in(0)->producer->op() == "Reshape" && n->in(0)->producer->in(0)->is_constant()))
      continue;
    Ints moved;
    for (const std::int64_t axis : perm_of(*n))
      if (n->in(0)->dims()[static_cast<std::size_t>(axis)] != ir::Dim(1)) moved.push_back(axis);
    transposes += !is_identity(moved);
  }
  return transposes;
}

bool run(ir::Graph& graph) {
  if (count(graph) < 2) return false;
  ir::Graph trial = graph.clone();
  sink_all(trial);
  if (count(trial) >= count(graph)) return false;
  graph = std::move(trial);
  return true;
}

}  // namespace

Pass pass_sink_transpose() { return {.name = "sink_transpose", .run = run}; }

}  // namespace tenfold::passes
