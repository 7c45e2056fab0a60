// fold_recurrent_int8: LSTM, GRU or RNN with dequantized constant i8 weights keeps them in int8, because reading them bounds a step
// of one sample. The data are not quantized. For CPUs; lower_qdq dequantizes all other weights, small ones too.
//
// before: (x f32[6,1,100], ws f32[400]!, vs f32[400]!)
//   w = constant i8[1,400,100]
//   v = constant i8[1,400,100]
//   a = DequantizeLinear(w, ws)
//   b = DequantizeLinear(v, vs)
//   y, h, c = LSTM(x, a, b)
//   return h
// after: (x f32[6,1,100], ws f32[400]!, vs f32[400]!)
//   w = constant i8[1,400,100]
//   v = constant i8[1,400,100]
//   y, h, c = RecurrentInt8(x, w, v, _, _, _, _, ws, vs) activation="Tanh" cell="LSTM" direction="forward" linear_before_reset=0
//   return h
//
// kept: (x f32[6,1,4], ws f32[12]!, vs f32[12]!)
//   w = constant i8[1,12,4]
//   v = constant i8[1,12,3]
//   a = DequantizeLinear(w, ws)
//   b = DequantizeLinear(v, vs)
//   y = LSTM(x, a, b)
#include <algorithm>

#include "ops/fold.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/precision/qdq.h"
#include "passes/recurrent.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

// i8 around zero, constant, with one scale or one for each row.
const Node* dequantized(const Value* v) {
  const Node* n = v ? v->producer : nullptr;
  if (!is_dequantize(n) || !n->in(0)->is_constant() || n->in(0)->dtype() != DType::i8) return nullptr;
  const std::optional<Params> params = params_of(n);
  const bool around_zero = params && std::all_of(params->zeros.begin(), params->zeros.end(), [](std::int32_t z) { return z == 0; });
  return around_zero && (params->per_tensor() || params->axis == 1) ? n : nullptr;
}

constexpr std::int64_t kMinBytes = 64 << 10;   // the tuner rounds nothing where there is less to read
std::int64_t elements(const Node& dequantize) { return dequantize.in(0)->constant->tensor.size(); }

Value* scales(ir::Graph& graph, const Node& dequantize) {
  Value* const scale = dequantize.in(1);
  const std::int64_t rows = dequantize.in(0)->dims()[1].constant();
  if (scale->dims() == ir::Dims{rows}) return scale;
  Tensor shape(DType::i64, {1});
  *shape.mutable_data<std::int64_t>() = rows;
  Value* const one = ops::fold_reshape(graph, scale, {1}, scale->name);
  return ops::fold(graph, "Expand", {one, graph.add_constant(std::move(shape))}, {}, scale->name);
}

bool rule(ir::Graph& graph, Node& n) {
  if (!is_plain_recurrent(n) || n.in(0)->dtype() != DType::f32 || n.attributes.string("direction") == "bidirectional") return false;
  const Node *const w = dequantized(n.in(1)), *const r = dequantized(n.in(2));
  if (!w || !r || elements(*w) + elements(*r) < kMinBytes) return false;
  Node node;
  node.def = &graph.registry().get("RecurrentInt8"), node.name = n.name, node.numerics = n.numerics;
  node.attributes = {{"cell", std::string(n.op())}, {"direction", n.attributes.string("direction")}};
  node.attributes.set("linear_before_reset", n.attributes.integer("linear_before_reset", 0));
  node.attributes.set("activation", activation_of_recurrent(n));
  node.inputs = {n.in(0), w->in(0), r->in(0), n.in(3), nullptr, n.in(5), n.in(6), scales(graph, *w), scales(graph, *r)};
  const Node* added = graph.add(std::move(node), static_cast<int>(n.outputs.size()), &n);
  for (std::size_t i = 0; i < n.outputs.size(); ++i) graph.replace_uses(n.outputs[i], added->outputs[i]);
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, rule); }

}  // namespace

Pass pass_fold_recurrent_int8() { return {.name = "fold_recurrent_int8", .run = run}; }

}  // namespace tenfold::passes
