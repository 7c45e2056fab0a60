// move_qdq: dequantization sinks past operators that only move elements or compare them, so that int8 data is moved and the following
// GEMMs see it; quantizing dequantized data again with the same parameters is removed.
//
// before: (x u8[1,4,6,6], s f32[]!, z u8[]!)
//   a = DequantizeLinear(x, s, z)
//   b = MaxPool(a) kernel_shape=[2,2] strides=[2,2]
//   c = QuantizeLinear(b, s, z)
//   y = Flatten(c)
// after: (x u8[1,4,6,6])
//   b = MaxPool(x) kernel_shape=[2,2] strides=[2,2]
//   y = Flatten(b)
#include <algorithm>
#include <array>

#include "passes/pass.h"
#include "passes/precision/qdq.h"

namespace tenfold::passes {
namespace {

// The DequantizeLinear behind a value, if it has one scale and its operand is no weight.
const ir::Node* dequantize_after(const ir::Value* value) {
  if (value == nullptr || !is_dequantize(value->producer) || value->producer->in(0)->is_constant()) return nullptr;
  const auto p = params_of(value->producer);
  return p && p->per_tensor() ? value->producer : nullptr;
}

bool commutes(const ir::Node& node) {
  static constexpr std::array<std::string_view, 7> kMovement{"Reshape",   "Flatten", "Squeeze",     "Unsqueeze",
                                                             "Transpose", "Slice",   "DepthToSpace"};
  if (node.body || node.outputs.size() != 1) return false;
  return std::find(kMovement.begin(), kMovement.end(), node.op()) != kMovement.end() || node.op() == "MaxPool";
}

// Adds `node` on other data operands, dequantizes its result and lets that take the old result's place.
void sink(ir::Graph& graph, ir::Node& node, std::vector<ir::Value*> inputs, const ir::Node& dequantize) {
  ir::Value* moved = graph.add_like(node, std::move(inputs), &node)->out();
  ir::Value* wide = graph.make("DequantizeLinear", {moved, dequantize.in(1), dequantize.in(2)}, dequantize.attributes, &node);
  graph.replace_uses(node.out(), wide);
}

bool sink_past(ir::Graph& graph, ir::Node& node) {
  const ir::Node* dequantize = dequantize_after(node.in(0));
  if (dequantize == nullptr) return false;
  if (commutes(node)) {
    std::vector<ir::Value*> inputs = node.inputs;
    inputs[0] = dequantize->in(0);
    sink(graph, node, std::move(inputs), *dequantize);
    return true;
  }
  if (node.op() != "Concat" || node.body) return false;
  std::vector<ir::Value*> inputs;
  for (const ir::Value* v : node.inputs) {
    const ir::Node* other = dequantize_after(v);
    if (other == nullptr || params_of(other) != params_of(dequantize)) return false;
    inputs.push_back(other->in(0));
  }
  sink(graph, node, std::move(inputs), *dequantize);
  return true;
}

bool cancel(ir::Graph& graph, ir::Node& node) {
  if (!is_quantize(&node) || graph.is_output(node.out())) return false;
  const ir::Node* dequantize = node.in(0)->producer;
  if (!is_dequantize(dequantize) || dequantize->in(0)->dtype() != node.out()->dtype()) return false;
  const auto p = params_of(&node);
  if (!p || p != params_of(dequantize)) return false;
  graph.replace_uses(node.out(), dequantize->in(0));
  return true;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  graph.sort();  // operands first: what sank past one node meets the next
  for (ir::Node* node : graph.node_list()) changed = cancel(graph, *node) || sink_past(graph, *node) || changed;
  return changed;
}

}  // namespace

Pass pass_move_qdq() { return {.name = "move_qdq", .run = run}; }

}  // namespace tenfold::passes
