// fuse_recurrent_stack: LSTM, GRU or RNN layers, each the only reader of the one before it, become one node: two cores compute two
// layers at once, some steps apart. For CPUs; the tuner undoes it where that is faster (tune/choice/unfuse.h).
//
// before: (x f32[6,1,4], w f32[1,12,4]!, r f32[1,12,3]!, v f32[1,8,3]!, s f32[1,8,2]!, b f32[1,16]!)
//   k = i64[1]{1}
//   y = LSTM(x, w, r)
//   z = Squeeze(y, k)
//   a, h, c = LSTM(z, v, s, b)
//   return h
// after: (x f32[6,1,4], w f32[1,12,4]!, r f32[1,12,3]!, v f32[1,8,3]!, s f32[1,8,2]!, b f32[1,16]!)
//   a, h, c = RecurrentStack(x, w, r, _, _, _, v, s, b) cell="LSTM"
//   return h
//
// before: (x f32[6,2,4], w f32[1,9,4]!, r f32[1,9,3]!, v f32[1,6,3]!, s f32[1,6,2]!, h f32[1,2,3])
//   k = i64[3]{6,2,3}
//   y = GRU(x, w, r, _, _, h) linear_before_reset=1
//   z = Reshape(y, k)
//   a = GRU(z, v, s) linear_before_reset=1
// after: (x f32[6,2,4], w f32[1,9,4]!, r f32[1,9,3]!, v f32[1,6,3]!, s f32[1,6,2]!, h f32[1,2,3])
//   a = RecurrentStack(x, w, r, _, h, _, v, s) cell="GRU" linear_before_reset=1
//
// kept: (x f32[6,1,4], w f32[1,12,4]!, r f32[1,12,3]!, v f32[1,8,3]!, s f32[1,8,2]!)
//   k = i64[1]{1}
//   y, h, c = LSTM(x, w, r)
//   z = Squeeze(y, k)
//   a = LSTM(z, v, s) direction="reverse"
//   return a, h
#include "ops/fused/recurrent_stack.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/recurrent.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;
using ops::RecurrentStackLayer;

bool is_layer(const Node& n) {
  return is_plain_recurrent(n) && n.attributes.string("direction") == "forward" && n.in(1)->is_constant() && n.in(2)->is_constant() &&
         ir::is_constant(n.in(1)->dims()) && ir::is_constant(n.in(2)->dims());
}
bool alike(const Node& a, const Node& b) {
  return a.op() == b.op() && a.numerics == b.numerics && a.in(0)->dtype() == b.in(0)->dtype() &&
         activation_of_recurrent(a) == activation_of_recurrent(b) &&
         a.attributes.integer("linear_before_reset", 0) == b.attributes.integer("linear_before_reset", 0);
}

// The layer that alone reads this one's rows, and they alone are read.
Node* layer_after(const ir::Graph& graph, const Node& n) {
  for (std::size_t i = 1; i < n.outputs.size(); ++i)
    if (!n.outputs[i]->users.empty() || graph.is_output(n.outputs[i])) return nullptr;
  const Node* view = only_user(graph, n.out());
  if (!view || view->body || (view->op() != "Squeeze" && view->op() != "Reshape")) return nullptr;
  const ir::Dims &y = n.out()->dims(), &rows = view->out()->dims();
  if (view->in(0) != n.out() || rows != ir::Dims{y[0], y[2], y[3]}) return nullptr;
  Node* next = only_user(graph, view->out());
  return next && is_layer(*next) && next->in(0) == view->out() && alike(n, *next) ? next : nullptr;
}

bool fuse(ir::Graph& graph, Node& first) {
  std::vector<Node*> layers{&first};
  while (layers.size() < RecurrentStackLayer::kMaxLayers)
    if (Node* next = layer_after(graph, *layers.back())) layers.push_back(next);
    else break;
  if (layers.size() < 2) return false;
  Node stack;
  Node& last = *layers.back();
  stack.def = &graph.registry().get("RecurrentStack"), stack.name = last.name, stack.numerics = last.numerics;
  stack.attributes.set("cell", std::string(last.op()));
  stack.attributes.set("linear_before_reset", last.attributes.integer("linear_before_reset", 0));
  stack.attributes.set("activation", activation_of_recurrent(last));
  stack.inputs = {first.in(0)};
  for (const Node* layer : layers)
    for (const int operand : {1, 2, 3, 5, 6}) stack.inputs.push_back(layer->in(operand));
  while (!stack.inputs.back()) stack.inputs.pop_back();
  const Node* added = graph.add(std::move(stack), static_cast<int>(last.outputs.size()), &last);
  for (std::size_t i = 0; i < last.outputs.size(); ++i) graph.replace_uses(last.outputs[i], added->outputs[i]);
  return true;
}

// From layers that read no other one.
bool rule(ir::Graph& graph, Node& n) {
  if (!is_layer(n)) return false;
  const Value* x = n.in(0);
  const Node* view = x->producer;
  const Node* before = view && view->in(0) ? view->in(0)->producer : nullptr;
  if (before && is_layer(*before) && layer_after(graph, *before) == &n) return false;
  return fuse(graph, n);
}

bool run(ir::Graph& graph) { return try_each(graph, rule); }

}  // namespace

Pass pass_fuse_recurrent_stack() { return {.name = "fuse_recurrent_stack", .run = run}; }

}  // namespace tenfold::passes
