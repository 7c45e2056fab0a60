// MatMulBlockScaled (internal): floats times a matrix of integers or e2m1 that has a scale, and a zero point if given, for each block of
// `block_size` neighbors of a column. The matrix stays as narrow as it is. Made of MatMul with a dequantized constant.
//
// Operands: x [.., K], integers [K, N], scales [ceil(K / block_size), N], zero points of the scales' shape and the integers' type. Scales
// of 8 bits are those of MXFP4 and NVFP4; `scale_factor` multiplies those of e4m3.
#include "ops/fused/block_scaled_common.h"
#include "ops/fused/fused_common.h"

namespace tenfold::ir {
namespace {

std::vector<Value*> decompose(Graph& graph, Node& node) {
  Decomposition x(graph, node);
  std::vector<Value*> operands(node.inputs.begin() + 1, node.inputs.end());
  const double factor = static_cast<double>(node.attributes.number("scale_factor", 1));
  operands[1] = x.cast(operands[1], DType::f32);
  if (factor != 1) operands[1] = x("Mul", {operands[1], x.number(DType::f32, factor)});
  Attributes attributes{{"axis", 0}, {"block_size", node.attributes.integer("block_size")}};
  Value* weights = x("DequantizeLinear", std::move(operands), std::move(attributes));
  return {x.cast(x("MatMul", {x.cast(node.in(0), DType::f32), weights}), node.in(0)->dtype())};
}

}  // namespace

OpDef op_matmul_block_scaled() {
  return fused({.name = "MatMulBlockScaled",
                .min_inputs = 3,
                .max_inputs = 4,
                .types = "T, Q, S, Q -> T; T: f32|f16|bf16; Q: i4|u4|i8|u8|f4e2m1; S: f32|f8e8m0|f8e4m3fn",
                .optional_attributes = "block_size: int, scale_factor: float",
                .infer = ops::infer_block_scaled,
                .decompose = decompose,
                .traits = {.gemm_kind = GemmKind::matrix, .permission = {.rounding = true}, .anchor = true, .narrows = true},
                .cases = {"f32[2,32] i4[32,5]! f32[2,5](0.01,0.05)! block_size=16",
                          "f32[1,70] u4[70,33]! f32[3,33](0.01,0.05)! u4[3,33]! block_size=32",
                          "f32[3,1,48] i8[48,17]! f32[1,17](-0.01,0.05)! block_size=48",
                          "f32[9,33] u8[33,4]! f32[3,4](0.01,0.05)! u8[3,4]! block_size=16",
                          "f32[19,40] i4[40,40]! f32[2,40](0.01,0.05)! i4[2,40]! block_size=32",
                          "f32[16] u4[16,3]! f32[1,3]! block_size=16", "f32[0,16] i4[16,3]! f32[1,3]! block_size=16",
                          "f32[2,7] i4[7,3] f32[3,3] block_size=3", "f16[3,40] i4[40,9]! f32[2,9](0.01,0.05)! i4[2,9]! block_size=32",
                          "bf16[2,20] u8[20,5]! f32[1,5](0.01,0.05)! block_size=20",
                          "f32[1,70] f4e2m1[70,33]! f32[5,33](0.01,0.05)! block_size=16",
                          "f32[9,64] f4e2m1[64,20]! f32[2,20](0.01,0.05)! block_size=32",
                          "f32[1,96] f4e2m1[96,33]! f8e8m0[3,33](0.01,0.05)! block_size=32",
                          "f32[3,80] f4e2m1[80,33]! f8e4m3fn[5,33](1,400)! block_size=16 scale_factor=0.0001"}},
               Between::wide);
}

}  // namespace tenfold::ir
