// ConvMaxPool (internal): a convolution, and the largest of each two by two of its results: of a picture. Attributes: the convolution's.
// Made by a fusion pass for GPUs, whose first convolutions need not write what is dropped.
#include "ops/conv/conv_common.h"
#include "ops/fused/fused_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  Dims y = ops::infer_convolution(call);
  ops::expect_bias(call, 2, y[1]);
  call.check_shape(y.size() == 4 && y[2].is_constant() && y[3].is_constant(), "the output has rank ", y.size(),
                   "; expected NCHW with constant H and W");
  for (std::size_t d = 2; d < 4; ++d) y[d] = y[d].constant() / 2;
  call.out(0, ops::convolution_dtype(call), y);
}

std::vector<Value*> decompose(Graph& graph, Node& node) {
  Decomposition x(graph, node);
  Value* y = x("Conv", node.inputs, node.attributes);
  return {x("MaxPool", {y}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}})};
}

}  // namespace

OpDef op_conv_max_pool() {
  return fused(
      {.name = "ConvMaxPool",
       .min_inputs = 2,
       .max_inputs = 3,
       .types = "float, float, float -> float",
       .attributes = {{"auto_pad", "NOTSET"}, {"group", 1}},
       .optional_attributes = "kernel_shape: ints, strides: ints, dilations: ints, pads: ints",
       .infer = infer,
       .decompose = decompose,
       .traits = {.permission = {.rounding = true, .convolves = true}, .anchor = true},
       .cases = {"f16[2,3,32,35] f16[32,3,3,3]! f16[32]! pads=[1,1,1,1]", "bf16[1,1,28,28] bf16[8,1,5,5]!",
                 "f32[3,3,57,45] f16[64,3,7,7]! f16[64]! pads=[3,3,3,3] strides=[2,2] numerics={round_to=f16}",
                 "f32[2,4,9,40] bf16[48,4,3,3]! bf16[48]! pads=[1,1,1,1] numerics={round_to=bf16}", "f32[1,3,7,9] f32[8,3,3,3]! f32[8]!"}},
      Between::as_stored);
}

}  // namespace tenfold::ir
