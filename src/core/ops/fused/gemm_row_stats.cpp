// GemmRowStats (internal): a product with a matrix, to which a row and a tensor of the result's shape may be added, and for each row of
// that sum the inverse of its deviation, and its mean times that: whoever reads it normalizes by sum * inverse - offset. Operands: x, the
// matrix, the row or nothing, the tensor or nothing, then inverse, offset and scale if that tensor has yet to be normalized itself (the
// norm's bias is part of the row). Made by a pass for GPUs.
#include "ops/fused/fused_common.h"

namespace tenfold::ir {
namespace {

constexpr int kRow = 2, kAdded = 3, kInverse = 4, kOffset = 5, kScale = 6;

void infer(InferCall& call) {
  call.check_shape(call.rank(0) >= 2 && call.rank(1) == 2, "the operands must be a matrix of rows and a 2-D weight");
  call.check_shape(call.dims(0).back() == call.dims(1)[0], "the rows have ", call.dims(0).back().text(), " elements, the matrix has ",
            call.dims(1)[0].text(), " rows");
  Dims result = call.dims(0), by_row = call.dims(0);
  result.back() = call.dims(1)[1], by_row.back() = Dim(1);
  for (int i : {kRow, kScale})
    call.check_shape(!call.has(i) || call.dims(i) == Dims{result.back()}, "operand ", i, " is no row of the result");
  call.check_shape(!call.has(kAdded) || call.dims(kAdded) == result, "operand 3 does not have the result's shape");
  for (int i : {kInverse, kOffset}) {
    call.validate(call.has(i) == call.has(kScale) && (!call.has(i) || call.has(kAdded)),
               "inverse, offset and scale belong together, and to operand 3");
    call.check_shape(!call.has(i) || call.dims(i) == by_row, "operand ", i, " does not have one value for each row");
  }
  call.out(0, call.dtype(0), result);
  call.out(1, DType::f32, by_row);
  call.out(2, DType::f32, by_row);
}

std::vector<Value*> decompose(Graph& graph, Node& node) {
  Decomposition x(graph, node);
  Value* added = node.in(kAdded);
  if (added && node.in(kScale))
    added = x("Mul", {x("Sub", {x("Mul", {added, node.in(kInverse)}), node.in(kOffset)}), node.in(kScale)});
  Node product = x.part("MatMul", {node.in(0), node.in(1)}, {}, "_product");
  add_after(product, {node.in(kRow), added});
  Value* sum = x.add(std::move(product));
  const Attributes along_rows{{"axes", Ints{-1}}};
  Value* mean = x("ReduceMean", {sum}, along_rows);
  Value* centered = x("Sub", {sum, mean});
  Value* variance = x("ReduceMean", {x("Mul", {centered, centered})}, along_rows);
  Value* deviation = x("Sqrt", {x("Add", {variance, x.number(sum->dtype(), node.attributes.number("epsilon"))})});
  return {sum, x.cast(x("Reciprocal", {deviation}), DType::f32), x.cast(x("Div", {mean, deviation}), DType::f32)};
}

}  // namespace

OpDef op_gemm_row_stats() {
  return fused(
      {.name = "GemmRowStats",
       .min_inputs = 2,
       .max_inputs = 7,
       .min_outputs = 3,
       .max_outputs = 3,
       .types = "T, T, float, float, float, float, float -> T, f32, f32; T: float",
       .attributes = {{"epsilon", 1e-5f}},
       .infer = infer,
       .decompose = decompose,
       .cases = {"f32[2,3,5] f32[5,8]!", "f32[4,6] f32[6,9]! f32[9]! f32[4,9] f32[4,1](0.5,2) f32[4,1] f32[9]!",
                 "f16[3,16] f16[16,24]! _ f16[3,24]"},
       .tolerance = 4e-3},  // of the rows as they are stored, in bf16 too
      Between::wide);
}

}  // namespace tenfold::ir
