// NormMatMulBlockScaled (internal): MatMulBlockScaled of what RMSNormalization makes of its rows. Operands: those of MatMulBlockScaled,
// then the norm's scale. Made by a pass for GPUs and few rows: a block of such a product reads the whole rows, so that it takes the norm
// on the way.
#include "ir/fault.h"
#include "ops/fused/block_scaled_common.h"
#include "ops/fused/fused_common.h"

namespace tenfold::ir {
namespace {

enum Operand { kRows, kIntegers, kScales, kZeros, kNorm };

void infer(InferCall& call) {
  ops::infer_block_scaled(call);
  call.validate(call.has(kNorm), "the norm has no scale");
  call.check_shape(call.rank(kRows) >= 2 && call.dims(kNorm) == Dims{call.dims(kIntegers)[0]},
                   "the norm's scale is not one value for each element of a row");
}

std::vector<Value*> decompose(Graph& graph, Node& node) {
  Decomposition x(graph, node);
  Value* const rows = x("RMSNormalization", {node.in(kRows), node.in(kNorm)}, {{"epsilon", node.attributes.number("epsilon")}});
  std::vector<Value*> operands{rows, node.in(kIntegers), node.in(kScales)};
  if (node.in(kZeros)) operands.push_back(node.in(kZeros));
  const auto own = static_cast<int>(operands.size());
  if (node.body) operands.insert(operands.end(), node.inputs.begin() + node.anchor_inputs, node.inputs.end());
  Node product = x.part("MatMulBlockScaled", std::move(operands), {{"block_size", node.attributes.integer("block_size")}});
  product.body = node.body;
  if (node.body) product.anchor_inputs = own;
  return {x.add(std::move(product))};
}

}  // namespace

OpDef op_norm_matmul_block_scaled() {
  return fused({.name = "NormMatMulBlockScaled",
                .min_inputs = 3,
                .max_inputs = 5,
                .types = "T, Q, f32, Q, float -> T; T: f32|f16|bf16; Q: i4|u4|i8|u8",
                .attributes = {{"epsilon", 1e-5f}},
                .optional_attributes = "block_size: int",
                .infer = infer,
                .decompose = decompose,
                .traits = {.permission = {.rounding = true}, .autotuned = true},
                .cases = {"f32[1,32] i4[32,5]! f32[2,5](0.01,0.05)! _ f32[32]! block_size=16 numerics={round_to=tf32}",
                          "f16[2,1,70] u4[70,33]! f32[3,33](0.01,0.05)! u4[3,33]! f16[70]! block_size=32 epsilon=0.125",
                          "bf16[3,20] i8[20,7]! f32[1,7](0.01,0.05)! _ f32[20] block_size=20"},
                .tolerance = 4e-3},
               Between::as_stored);
}

}  // namespace tenfold::ir
