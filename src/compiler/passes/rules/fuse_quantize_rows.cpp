// fuse_quantize_rows: rows that are rounded to i8 by their own largest magnitude, as what a decoder writes into its int8 cache, become one
// QuantizeRows. For CPUs.
//
// before: (x f32[2,3,8])
//   n = f32[]{127.0}
//   e = f32[]{1.1754943508222875e-38}
//   a = Abs(x)
//   l = ReduceMax(a) axes=[-1]
//   s = Div(l, n)
//   m = Max(s, e)
//   d = Div(x, m)
//   r = Round(d)
//   q = Cast(r) to="i8"
//   y = DequantizeLinear(q, m) axis=2 block_size=8
//   return q, y
// after: (x f32[2,3,8])
//   q, m = QuantizeRows(x) to="i8"
//   y = DequantizeLinear(q, m) axis=2 block_size=8
//   return q, y
//
// kept: (x f32[2,3,8])
//   n = f32[]{127.0}
//   e = f32[]{1.1754943508222875e-38}
//   a = Abs(x)
//   l = ReduceMax(a) axes=[1]
//   s = Div(l, n)
//   m = Max(s, e)
//   d = Div(x, m)
//   r = Round(d)
//   q = Cast(r) to="i8"
//   y = DequantizeLinear(q, m) axis=1 block_size=3
//   return q, y
//
// kept: (x f32[2,3,8])
//   n = f32[]{127.0}
//   e = f32[]{1.1754943508222875e-38}
//   a = Abs(x)
//   l = ReduceMax(a) axes=[-1]
//   s = Div(l, n)
//   m = Max(s, e)
//   d = Div(x, m)
//   r = Round(d)
//   q = Cast(r) to="i8"
//   return q, m
#include <algorithm>

#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

constexpr double kLargestByte = 127, kNextToZero = 1e-30;  // a row below is zeros, whatever its scale

// The one node that reads `v` and is `op`; null if there are others.
Node* read_by(const ir::Graph& graph, const Value* v, std::string_view op) {
  Node* user = only_user(graph, v);
  return user && user->op() == op && !user->body ? user : nullptr;
}

// max(scale, next to zero), where scale is x's largest magnitude along its last axis by 127.
bool is_scale_of(const Value* v, const Value* x) {
  const Node* guarded = made_by(v, "Max");
  if (!guarded || guarded->inputs.size() != 2) return false;
  const auto least = scalar_of(guarded->in(1));
  const Node* by = least && *least > 0 && *least < kNextToZero ? made_by(guarded->in(0), "Div") : nullptr;
  const auto divisor = by ? scalar_of(by->in(1)) : std::nullopt;
  const Node* largest = divisor && *divisor == kLargestByte ? made_by(by->in(0), "ReduceMax") : nullptr;
  if (!largest || largest->attributes.integer("keepdims", 1) != 1) return false;
  const auto axes = reduced_axes(*largest);
  const Node* magnitude = axes && *axes == ir::Ints{x->rank() - 1} ? made_by(largest->in(0), "Abs") : nullptr;
  return magnitude && magnitude->in(0) == x;
}

// The scale of a row of zeros is 0 then, not next to it: what else divides by it would give no number.
bool only_widens(const ir::Graph& graph, const Value* scale, const Node& division) {
  const auto fits = [&](const Node* user) {
    return user == &division || user->op() == "TensorScatter" || (user->op() == "DequantizeLinear" && user->in(1) == scale);
  };
  return !graph.is_output(scale) && std::ranges::all_of(scale->users, fits);
}

bool fuse(ir::Graph& graph, Node& node) {
  if (node.op() != "Div" || node.body || node.out()->dtype() != DType::f32 || node.in(0)->rank() < 1) return false;
  if (node.out()->dims() != node.in(0)->dims()) return false;   // a constant of more axes gives them to all
  if (!is_scale_of(node.in(1), node.in(0)) || !only_widens(graph, node.in(1), node)) return false;
  const Node* round = read_by(graph, node.out(), "Round");
  const Node* cast = round ? read_by(graph, round->out(), "Cast") : nullptr;
  if (!cast || cast->out()->dtype() != DType::i8) return false;
  Node rows;
  rows.def = &graph.registry().get("QuantizeRows");
  rows.name = node.name, rows.sources = node.sources, rows.inputs = {node.in(0)}, rows.attributes = {{"to", "i8"}};
  Value* scale = node.in(1);
  Node* before = scale->producer;  // its readers may stand in front of the division
  const Node* made = graph.add(std::move(rows), 2, before);
  graph.replace_uses(cast->out(), made->outputs[0]);
  graph.replace_uses(scale, made->outputs[1]);
  return true;
}

}  // namespace

Pass pass_fuse_quantize_rows() {
  return {.name = "fuse_quantize_rows", .run = [](ir::Graph& graph) { return try_each(graph, fuse); }};
}

}  // namespace tenfold::passes
