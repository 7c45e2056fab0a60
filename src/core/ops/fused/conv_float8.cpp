// ConvFloat8 (internal): the convolution of an image of e4m3 by filters of e4m3, added up and given in f32. Made of dequantized operands
// for GPUs.
#include "ops/conv/conv_common.h"
#include "ops/fused/fused_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) { call.out(0, DType::f32, ops::infer_convolution(call)); }

std::vector<Value*> decompose(Graph& graph, Node& node) {
  Decomposition x(graph, node);
  return {x("Conv", {x.cast(node.in(0), DType::f32), x.cast(node.in(1), DType::f32)}, node.attributes)};
}

}  // namespace

OpDef op_conv_float8() {
  return fused(
      {.name = "ConvFloat8",
       .min_inputs = 2,
       .max_inputs = 2,
       .types = "f8e4m3fn, f8e4m3fn -> f32",
       .attributes = {{"auto_pad", "NOTSET"}, {"group", 1}},
       .optional_attributes = "kernel_shape: ints, strides: ints, dilations: ints, pads: ints",
       .infer = infer,
       .decompose = decompose,
       .traits = {.gemm_kind = GemmKind::convolution, .anchor = true, .accumulates = true},
       .cases = {"f8e4m3fn[1,16,9,7] f8e4m3fn[24,16,3,3]! pads=[1,1,1,1]", "f8e4m3fn[2,64,15,14] f8e4m3fn[40,64,1,1]! strides=[2,2]",
                 "f8e4m3fn[1,3,12,9] f8e4m3fn[5,3,3,2] dilations=[2,1]", "f8e4m3fn[2,32,9,8] f8e4m3fn[48,8,3,3]! group=4 pads=[1,0,1,2]",
                 "f8e4m3fn[2,24,9,11] f8e4m3fn[24,1,3,3]! group=24 pads=[1,1,1,1] strides=[2,1]",
                 "f8e4m3fn[1,16,5,6,7] f8e4m3fn[8,16,3,3,3]! pads=[1,1,1,1,1,1]", "f8e4m3fn[0,16,4,4] f8e4m3fn[8,16,1,1]!"},
       .tolerance = 5e-3},   // as MatMulFloat8's
      Between::as_stored);
}

}  // namespace tenfold::ir
