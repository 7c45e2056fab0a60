// NormGemm (internal): a product of rows that it divides by their deviation, and for each row the inverse of that deviation, and its mean
// times that. The mean stays in the rows: columns of the matrix have a mean of zero, so that it cancels (CenterWeights). Operands: x, the
// matrix. Made by a pass for GPUs.
#include "ops/fused/fused_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.check_shape(call.rank(0) >= 2 && call.rank(1) == 2, "the operands must be a matrix of rows and a 2-D weight");
  call.check_shape(call.dims(0).back() == call.dims(1)[0], "the rows have ", call.dims(0).back().text(), " elements, the matrix has ",
            call.dims(1)[0].text(), " rows");
  Dims result = call.dims(0), by_row = call.dims(0);
  result.back() = call.dims(1)[1], by_row.back() = Dim(1);
  call.out(0, call.dtype(0), result);
  call.out(1, DType::f32, by_row);
  call.out(2, DType::f32, by_row);
}

std::vector<Value*> decompose(Graph& graph, Node& node) {
  Decomposition x(graph, node);
  const Attributes along_rows{{"axes", Ints{-1}}};
  Value* mean = x("ReduceMean", {node.in(0)}, along_rows);
  Value* centered = x("Sub", {node.in(0), mean});
  Value* variance = x("ReduceMean", {x("Mul", {centered, centered})}, along_rows);
  Value* deviation = x("Sqrt", {x("Add", {variance, x.number(node.in(0)->dtype(), node.attributes.number("epsilon"))})});
  Value* product = x.add(x.part("MatMul", {node.in(0), node.in(1)}, {}, "_product"));
  return {x("Div", {product, deviation}), x.cast(x("Reciprocal", {deviation}), DType::f32),
          x.cast(x("Div", {mean, deviation}), DType::f32)};
}

}  // namespace

OpDef op_norm_gemm() {
  return fused({.name = "NormGemm",
                .min_inputs = 2,
                .max_inputs = 2,
                .min_outputs = 3,
                .max_outputs = 3,
                .types = "T, T -> T, f32, f32; T: float",
                .attributes = {{"epsilon", 1e-5f}},
                .infer = infer,
                .decompose = decompose,
                .cases = {"f32[2,3,5] f32[5,8]!", "f16[3,16] f16[16,24]!", "bf16[7,40](1,3) bf16[40,16]! epsilon=0.125"}},
               Between::wide);
}

}  // namespace tenfold::ir
