// RecurrentStack (internal): layers of LSTM, GRU or RNN over each other, forward in time: each reads what the one before it gives for all
// samples and steps. Operands: X [steps, samples, inputs], then for each layer W, R, bias, first h and first c, as ONNX's operators have
// them with one direction. Results: those of the last layer. Made by a fusion pass for CPUs, whose cores take layers side by side.
#include "ops/fused/recurrent_stack.h"

#include "ops/fused/fused_common.h"

namespace tenfold::ops {

ir::Attributes recurrent_stack_layer(const ir::Attributes& stack) {
  ir::Attributes layer{{"direction", "forward"}, {"layout", 0}};
  const std::string& cell = stack.string("cell");
  if (cell == "GRU") layer.set("linear_before_reset", stack.integer("linear_before_reset"));
  if (cell == "RNN") layer.set("activations", ir::Strings{stack.string("activation")});
  return layer;
}

}  // namespace tenfold::ops

namespace tenfold::ir {
namespace {

using ops::RecurrentStackLayer;

int layers_of(const Node& node) { return RecurrentStackLayer::of(static_cast<std::int64_t>(node.inputs.size()) - 1) + 1; }

void infer(InferCall& call) {
  const std::string& cell = call.attributes().string("cell");
  call.validate(cell == "LSTM" || cell == "GRU" || cell == "RNN", "cell is \"", cell, "\", expected LSTM, GRU or RNN");
  const std::int64_t gates = cell == "LSTM" ? 4 : cell == "GRU" ? 3 : 1;
  const int layers = RecurrentStackLayer::of(call.inputs() - 1) + 1;
  call.check_shape(call.rank(0) == 3 && layers <= RecurrentStackLayer::kMaxLayers, "X of rank 3 and at most ",
                   RecurrentStackLayer::kMaxLayers, " layers are expected");
  const Dim steps = call.dims(0)[0], samples = call.dims(0)[1];
  Dim width = call.dims(0)[2];
  for (int layer = 0; layer < layers; ++layer) {
    const auto at = RecurrentStackLayer::operands(layer);
    call.check_shape(call.has(at[1]) && call.has(at[2]) && call.rank(at[2]) == 3, "layer ", layer, " has no W or R of rank 3");
    const Dim hidden = call.dims(at[2])[2];
    call.check_shape(call.dims(at[1]) == Dims{1, hidden * gates, width} && call.dims(at[2]) == Dims{1, hidden * gates, hidden},
              "W and R of layer ", layer, " are [", text(call.dims(at[1])), "] and [", text(call.dims(at[2])), "]: they do not fit ",
              width.text(), " inputs");
    width = hidden;
  }
  call.out(0, call.dtype(0), {steps, 1, samples, width});
  call.out(1, call.dtype(0), {1, samples, width});
  call.out(2, call.dtype(0), {1, samples, width});
}

std::vector<Value*> decompose(Graph& graph, Node& node) {
  Decomposition x(graph, node);
  Value* rows = node.in(0);
  const int layers = layers_of(node);
  for (int layer = 0;; ++layer) {
    std::vector<Value*> operands{rows};
    const auto at = RecurrentStackLayer::operands(layer);
    for (std::size_t i = 1; i < at.size(); ++i) operands.push_back(at[i] < 0 ? nullptr : node.in(at[i]));
    while (!operands.back()) operands.pop_back();
    Node part = x.part(node.attributes.string("cell"), std::move(operands), ops::recurrent_stack_layer(node.attributes), cat("_", layer));
    if (layer + 1 == layers) return graph.add(std::move(part), static_cast<int>(node.outputs.size()), &node)->outputs;
    rows = x("Squeeze", {x.add(std::move(part)), x.indices({1})});
  }
}

}  // namespace

OpDef op_recurrent_stack() {
  return fused(
      {.name = "RecurrentStack",
       .min_inputs = 3,
       .max_inputs = -1,  // infer() says how many
       .max_outputs = 3,
       .types = "T, T, T, T?... -> T, T, T; T: float",
       .attributes = {{"cell", "LSTM"}, {"linear_before_reset", 0}, {"activation", "Tanh"}},
       .infer = infer,
       .decompose = decompose,
       .traits = {.permission = {.rounding = true}, .autotuned = true},
       .cases = {"f32[7,1,10] f32[1,20,10]! f32[1,20,5]! f32[1,40]! _ _ f32[1,28,5]! f32[1,28,7]! outputs=2",
                 "f32[13,3,10] f32[1,80,10]! f32[1,80,20]! f32[1,160]! f32[1,3,20] f32[1,3,20] f32[1,72,20]! f32[1,72,18]! _ _ _ "
                 "f32[1,20,18]! f32[1,20,5]! f32[1,40]! outputs=3",
                 "f32[8,2,9] f32[1,60,9]! f32[1,60,20]! f32[1,120]! _ _ f32[1,54,20]! f32[1,54,18]! f32[1,108]! f32[1,2,18] cell=\"GRU\" "
                 "outputs=2",
                 "f32[9,1,9] f32[1,60,9]! f32[1,60,20]! f32[1,120]! _ _ f32[1,60,20]! f32[1,60,20]! f32[1,120]! cell=\"GRU\" "
                 "linear_before_reset=1",
                 "f32[6,1,9] f32[1,20,9]! f32[1,20,20]! f32[1,40]! _ _ f32[1,18,20]! f32[1,18,18]! cell=\"RNN\" activation=\"Relu\" "
                 "outputs=2",
                 "f32[20,1,30] f32[1,160,30]! f32[1,160,40]! f32[1,320]! _ _ f32[1,160,40]! f32[1,160,40]! f32[1,320]! _ _ f32[1,160,40]! "
                 "f32[1,160,40]! f32[1,320]! outputs=2 numerics={round_to=tf32}",
                 "f32[11,2,30] f32[1,120,30]! f32[1,120,40]! f32[1,240]! _ _ f32[1,120,40]! f32[1,120,40]! f32[1,240]! cell=\"GRU\" "
                 "linear_before_reset=1 outputs=2 numerics={round_to=tf32}"},
       .on_host = "it is made for CPUs alone"},
      Between::wide);
}

}  // namespace tenfold::ir
