// GemmLayerNorm (internal): LayerNormalization over the last dim of a product with a matrix, to which a row and a tensor of the result's
// shape may be added. Operands: x, the matrix, scale, bias, the row or nothing, the tensor or nothing. Results: what is normalized,
// then, if asked for, the sum before. Made by a fusion pass for GPUs.
#include "ops/fused/fused_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.check_shape(call.rank(0) >= 2 && call.rank(1) == 2, "the operands must be a matrix of rows and a 2-D weight");
  call.check_shape(call.dims(0).back() == call.dims(1)[0], "the rows have ", call.dims(0).back().text(), " elements, the matrix has ",
            call.dims(1)[0].text(), " rows");
  Dims result = call.dims(0);
  result.back() = call.dims(1)[1];
  for (int i = 2; i < call.inputs(); ++i) {
    if (!call.has(i)) continue;
    call.check_shape(i == 5 ? call.dims(i) == result : call.rank(i) == 1 && call.dims(i)[0] == result.back(), "operand ", i,
              " does not have the shape of the result or of a row of it");
  }
  for (int i = 0; i < call.outputs(); ++i) call.out(i, call.dtype(0), result);
}

// The product with what is added to it: all of that where the sum is a result, else the row alone, for SkipLayerNorm
// adds the rest as quickly.
std::vector<Value*> decompose(Graph& graph, Node& node) {
  const bool kept = node.outputs.size() > 1, sums = !kept && node.in(5);
  Decomposition x(graph, node);
  Node product = x.part("MatMul", {node.in(0), node.in(1)}, {}, "_product");
  add_after(product, {node.in(4), kept ? node.in(5) : nullptr});
  Value* sum = x.add(std::move(product));
  const Attributes epsilon{{"epsilon", node.attributes.number("epsilon")}};
  Value* y = sums ? x("SkipLayerNorm", {node.in(2), node.in(3), sum, nullptr, node.in(5)}, epsilon)
                  : x("LayerNormalization", {sum, node.in(2), node.in(3)}, epsilon);
  return kept ? std::vector{y, sum} : std::vector{y};
}

}  // namespace

OpDef op_gemm_layer_norm() {
  return fused({.name = "GemmLayerNorm",
                .min_inputs = 4,
                .max_inputs = 6,
                .max_outputs = 2,
                .types = "T, T, float, float, float, float -> T, T; T: float",
                .attributes = {{"epsilon", 1e-5f}},
                .infer = infer,
                .decompose = decompose,
                .traits = {.permission = {.rounding = true}, .autotuned = true},
                .cases = {"f32[2,3,5] f32[5,8]! f32[8]! f32[8]!", "f32[4,6] f32[6,9]! f32[9]! f32[9]! f32[9]! f32[4,9] outputs=2",
                          "f16[3,16] f16[16,24]! f16[24]! f16[24]! _ f16[3,24]"},
                .on_host = "with few rows, it is unfused into GEMM and norm; with many rows, it runs on sm_90"},
               Between::wide);
}

}  // namespace tenfold::ir
