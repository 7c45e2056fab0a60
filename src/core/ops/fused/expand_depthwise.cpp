// ExpandDepthwise (internal): a 1x1 convolution with a bias and bounds, and a depthwise convolution of its result. Operands: x, the
// matrix [E,C,1,1], its bias [E,1,1], the filters [E,1,h,w]. Attributes: the second's window; low and high, the bounds. Made by a
// fusion pass for CPUs, which need not write the first's result to memory.
#include "ops/conv/conv_common.h"
#include "ops/fused/fused_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Dims &x = call.dims(0), &matrix = call.dims(1), &filters = call.dims(3);
  call.check_shape(x.size() == 4 && matrix.size() == 4 && filters.size() == 4, "the image, the matrix and the filters need rank 4");
  call.check_shape(matrix == Dims{matrix[0], x[1], 1, 1}, "the matrix does not take ", x[1].text(), " channels in windows of one position");
  call.check_shape(call.dims(2) == Dims{matrix[0], 1, 1}, "the bias is not one value for each of ", matrix[0].text(), " channels");
  call.check_shape(filters[0] == matrix[0] && filters[1] == Dim(1), "not one filter for each of ", matrix[0].text(), " channels");
  call.out(0, call.dtype(0), ops::infer_window(call, ops::conv_kernel(call.attributes(), std::span(filters).subspan(2)), filters[0]));
}

// The 1x1 convolution with its bias and bounds.
Value* expanded(Decomposition& x, const Node& node) {
  Node first = x.part("Conv", {node.in(0), node.in(1), node.in(2)}, {{"kernel_shape", Ints{1, 1}}}, "_expansion");
  first.anchor_inputs = 2;
  const DType type = node.in(0)->dtype();
  BodyBuilder b({type, type});
  std::uint16_t sum = b.binary(Prim::add, 0, 1);
  if (node.attributes.has("low")) sum = b.binary(Prim::max, sum, b.constant(type, node.attributes.number("low")));
  if (node.attributes.has("high")) sum = b.binary(Prim::min, sum, b.constant(type, node.attributes.number("high")));
  first.body = b.finish({sum});
  return x.add(std::move(first));
}

std::vector<Value*> decompose(Graph& graph, Node& node) {
  Decomposition x(graph, node);
  Attributes window = node.attributes;
  window.erase("low"), window.erase("high");
  window.set("group", node.in(3)->dims()[0].constant());
  Node second = x.part("Conv", {expanded(x, node), node.in(3)}, std::move(window));
  second.inputs.insert(second.inputs.end(), node.inputs.begin() + 4, node.inputs.end());
  second.body = node.body;
  if (node.body) second.anchor_inputs = 2;
  return {x.add(std::move(second))};
}

}  // namespace

OpDef op_expand_depthwise() {
  return fused({.name = "ExpandDepthwise",
                .min_inputs = 4,
                .max_inputs = 4,
                .types = "T, float, float, float -> T; T: float",
                .attributes = {{"auto_pad", "NOTSET"}},
                .optional_attributes = "kernel_shape: ints, strides: ints, dilations: ints, pads: ints, low: float, high: float",
                .infer = infer,
                .decompose = decompose,
                .traits = {.permission = {.rounding = true, .convolves = true}, .autotuned = true},
                .cases = {"f32[2,5,9,11] f32[17,5,1,1]! f32[17,1,1]! f32[17,1,3,3]! pads=[1,1,1,1] low=0.0 high=6.0",
                          "f32[1,16,13,14] f32[48,16,1,1]! f32[48,1,1]! f32[48,1,3,3]! pads=[1,1,1,1] strides=[2,2] low=0.0",
                          "f32[1,3,12,10] f32[33,3,1,1]! f32[33,1,1]! f32[33,1,5,5]! pads=[2,2,2,2]",
                          "f32[1,40,5,18] f32[72,40,1,1]! f32[72,1,1]! f32[72,1,3,3]! pads=[1,1,1,1] low=0.0 high=6.0",
                          "f32[1,4,7,9] f32[8,4,1,1]! f32[8,1,1]! f32[8,1,3,3]! pads=[0,1,1,0] strides=[1,2] high=0.5",
                          "bf16[2,5,9,11] bf16[17,5,1,1]! bf16[17,1,1]! bf16[17,1,3,3]! pads=[1,1,1,1] low=0.0 high=6.0",
                          "bf16[1,32,13,14] bf16[72,32,1,1]! bf16[72,1,1]! bf16[72,1,3,3]! pads=[1,1,1,1] strides=[2,2] low=0.0",
                          "bf16[1,40,12,17] bf16[230,40,1,1]! bf16[230,1,1]! bf16[230,1,5,5]! pads=[2,2,2,2]",
                          "bf16[1,4,7,9] bf16[8,4,1,1]! bf16[8,1,1]! bf16[8,1,3,3]! pads=[0,1,1,0] strides=[1,2] high=0.5"},
                .on_host = "it is made for CPUs alone"},
               Between::wide);
}

}  // namespace tenfold::ir
