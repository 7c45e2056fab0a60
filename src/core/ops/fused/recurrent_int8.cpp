// RecurrentInt8 (internal): LSTM, GRU or RNN of one direction whose W and R are i8 times a scale of each row. Operands: X, W, R, bias,
// none (sequences are of one length), first h, first c, as the operator has them; then the scales of W's and R's rows.
// Made by a pass on Q/DQ graphs for CPUs.
#include "ops/fused/fused_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const std::string& cell = call.attributes().string("cell");
  call.validate(cell == "LSTM" || cell == "GRU" || cell == "RNN", "cell is \"", cell, "\", expected LSTM, GRU or RNN");
  const std::string& direction = call.attributes().string("direction");
  call.validate(direction == "forward" || direction == "reverse", "direction is \"", direction, "\", expected forward or reverse");
  const std::int64_t gates = cell == "LSTM" ? 4 : cell == "GRU" ? 3 : 1;
  call.check_shape(call.rank(0) == 3 && call.rank(2) == 3 && !call.has(4), "X and R of rank 3, and no lengths, are expected");
  const Dim steps = call.dims(0)[0], samples = call.dims(0)[1], hidden = call.dims(2)[2], rows = hidden * gates;
  call.check_shape(call.dims(1) == Dims{1, rows, call.dims(0)[2]} && call.dims(2) == Dims{1, rows, hidden}, "W and R are [",
                   text(call.dims(1)), "] and [", text(call.dims(2)), "]: they do not fit");
  call.check_shape(call.dims(7) == Dims{rows} && call.dims(8) == Dims{rows}, "a scale for each of ", rows.text(), " rows is expected");
  call.out(0, call.dtype(0), {steps, 1, samples, hidden});
  call.out(1, call.dtype(0), {1, samples, hidden});
  call.out(2, call.dtype(0), {1, samples, hidden});
}

std::vector<Value*> decompose(Graph& graph, Node& node) {
  Decomposition x(graph, node);
  const auto floats = [&](int weights, int scales) {
    return x("DequantizeLinear", {node.in(weights), node.in(scales)}, {{"axis", 1}});
  };
  const std::string& cell = node.attributes.string("cell");
  Attributes attributes{{"direction", node.attributes.string("direction")}, {"layout", 0}};
  if (cell == "GRU") attributes.set("linear_before_reset", node.attributes.integer("linear_before_reset"));
  if (cell == "RNN") attributes.set("activations", Strings{node.attributes.string("activation")});
  std::vector<Value*> operands{node.in(0), floats(1, 7), floats(2, 8), node.in(3), nullptr, node.in(5), node.in(6)};
  while (!operands.back()) operands.pop_back();
  return graph.add(x.part(cell, std::move(operands), std::move(attributes)), static_cast<int>(node.outputs.size()), &node)->outputs;
}

}  // namespace

OpDef op_recurrent_int8() {
  return fused({.name = "RecurrentInt8",
                .min_inputs = 9,
                .max_inputs = 9,
                .max_outputs = 3,
                .types = "f32, i8, i8, f32?, i64?, f32?, f32?, f32, f32 -> f32, f32, f32",
                .attributes = {{"cell", "LSTM"}, {"direction", "forward"}, {"linear_before_reset", 0}, {"activation", "Tanh"}},
                .infer = infer,
                .decompose = decompose,
                .traits = {.permission = {.rounding = true}},
                .cases = {"f32[4,2,3] i8[1,20,3]! i8[1,20,5]! f32[1,40] _ f32[1,2,5] f32[1,2,5] f32[20](0.001,0.02)! f32[20](0.001,0.02)! "
                          "outputs=3",
                          "f32[3,1,4] i8[1,18,4]! i8[1,18,6]! _ _ _ _ f32[18](0.001,0.02)! f32[18](0.001,0.02)! cell=\"GRU\" "
                          "direction=\"reverse\" linear_before_reset=1 outputs=2",
                          "f32[7,3,40] i8[1,50,40]! i8[1,50,50]! f32[1,100] _ _ _ f32[50](0.001,0.02)! f32[50](0.001,0.02)! cell=\"RNN\" "
                          "numerics={round_to=tf32}"},
                .on_host = "it is made for CPUs alone"},
               Between::as_stored);
}

}  // namespace tenfold::ir
