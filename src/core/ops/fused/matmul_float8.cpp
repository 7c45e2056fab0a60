// MatMulFloat8 (internal): the product of matrices of e4m3, added up and given in f32. Made of dequantized operands for GPUs.
#include "ops/fused/fused_common.h"
#include "ops/matmul/matmul_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.out(0, DType::f32, ops::matmul_dims(call, call.dims(0), call.dims(1)));
}

std::vector<Value*> decompose(Graph& graph, Node& node) {
  Decomposition x(graph, node);
  return {x("MatMul", {x.cast(node.in(0), DType::f32), x.cast(node.in(1), DType::f32)})};
}

}  // namespace

OpDef op_matmul_float8() {
  return fused(
      {.name = "MatMulFloat8",
       .min_inputs = 2,
       .max_inputs = 2,
       .types = "f8e4m3fn, f8e4m3fn -> f32",
       .infer = infer,
       .decompose = decompose,
       .traits = {.gemm_kind = GemmKind::matrix, .anchor = true, .accumulates = true},
       .cases = {"f8e4m3fn[5,7] f8e4m3fn[7,3]", "f8e4m3fn[4,33] f8e4m3fn[33,17]!", "f8e4m3fn[2,3,64] f8e4m3fn[64,32]!",
                 "f8e4m3fn[0,4] f8e4m3fn[4,2]!"},
       .tolerance = 5e-3},  // tensor cores add products up with fewer bits than f32 has, Hopper's with 14
      Between::as_stored);
}

}  // namespace tenfold::ir
