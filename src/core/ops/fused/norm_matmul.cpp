// NormMatMul (internal): the product of rows, or of what RMSNormalization makes of them, with a matrix, or what `combine` makes of their
// products with two matrices, place by place. Operands: x, the matrix, the norm's scale or nothing, the second matrix or nothing.
// Attributes: epsilon; combine, a body of the two products as text (ir/body.h). Made by a pass for GPUs and few rows: each block of such a
// product reads the whole row, so that it takes the norm on the way.
#include "ops/fused/norm_matmul.h"

#include "ops/fused/fused_common.h"

namespace tenfold::ops {

std::optional<ir::Body> combine_of(const ir::Attributes& attributes, DType type) {
  try {
    ir::Body body = ir::parse_body(attributes.string("combine"));
    ir::verify(body);
    const bool fits = body.inputs == std::vector{type, type} && body.outputs.size() == 1 && body.reduced_rank == 0;
    if (fits && body.type_of(body.outputs[0]) == type) return body;
  } catch (const Error&) {   // it is no body at all
  }
  return std::nullopt;
}

}  // namespace tenfold::ops

namespace tenfold::ir {
namespace {

enum Operand { kRows, kMatrix, kScale, kSecond };

void infer(InferCall& call) {
  call.check_shape(call.rank(kRows) >= 2 && call.rank(kMatrix) == 2, "the operands must be a matrix of rows and a 2-D weight");
  call.check_shape(call.dims(kRows).back() == call.dims(kMatrix)[0], "the rows have ", call.dims(kRows).back().text(),
                   " elements, the matrix has ", call.dims(kMatrix)[0].text(), " rows");
  call.check_shape(!call.has(kScale) || call.dims(kScale) == Dims{call.dims(kMatrix)[0]},
                   "the scale is not one value for each element of a row");
  call.check_shape(!call.has(kSecond) || call.dims(kSecond) == call.dims(kMatrix), "the matrices differ in extents");
  const bool combines = !call.attributes().string("combine").empty();
  call.validate(call.has(kSecond) == combines, "a second matrix and `combine` belong together");
  call.validate(!combines || ops::combine_of(call.attributes(), call.dtype(kRows)),
                "`combine` is no body that makes one value of the rows' type of two");
  Dims result = call.dims(kRows);
  result.back() = call.dims(kMatrix)[1];
  call.out(0, call.dtype(kRows), result);
}

// The body of the first product: `combine` with the second one, then the node's own.
void combine(Node& first, const Node& node, Value* second) {
  const std::size_t own = node.body ? static_cast<std::size_t>(node.anchor_inputs) : node.inputs.size();
  if (second) {
    first.inputs.push_back(second);
    first.body = ops::combine_of(node.attributes, node.in(kRows)->dtype());
    if (node.body) {
      std::vector<int> links(node.body->inputs.size(), -1);
      links[0] = first.body->outputs[0];
      first.body = compose(*first.body, *node.body, links);
    }
  } else {
    first.body = node.body;
  }
  first.inputs.insert(first.inputs.end(), node.inputs.begin() + static_cast<std::ptrdiff_t>(own), node.inputs.end());
  if (first.body) first.anchor_inputs = 2;
}

std::vector<Value*> decompose(Graph& graph, Node& node) {
  Decomposition x(graph, node);
  const bool scaled = node.in(kScale) && (node.anchor_inputs < 0 || node.anchor_inputs > kScale);
  const bool paired = node.in(kSecond) && (node.anchor_inputs < 0 || node.anchor_inputs > kSecond);
  Value* rows = node.in(kRows);
  if (scaled) rows = x("RMSNormalization", {rows, node.in(kScale)}, {{"epsilon", node.attributes.number("epsilon")}});
  Value* second = paired ? x.add(x.part("MatMul", {rows, node.in(kSecond)}, {}, "_second")) : nullptr;
  Node first = x.part("MatMul", {rows, node.in(kMatrix)});
  combine(first, node, second);
  return {x.add(std::move(first))};
}

}  // namespace

OpDef op_norm_matmul() {
  return fused({.name = "NormMatMul",
                .min_inputs = 2,
                .max_inputs = 4,
                .types = "T, T, float, T -> T; T: float",
                .attributes = {{"epsilon", 1e-5f}, {"combine", ""}},
                .infer = infer,
                .decompose = decompose,
                .traits = {.permission = {.rounding = true}, .autotuned = true},
                .cases = {"f32[2,1,5] f32[5,8]! f32[5]!", "f32[1,6] f32[6,9]! f32[6]! epsilon=0.125",
                          "f32[1,6] f32[6,9]! f32[6]! f32[6,9]! combine=\"(f32,f32) %2=sigmoid.f32(%0) %3=mul.f32(%0,%2) "
                          "%4=mul.f32(%3,%1) -> %4\"",
                          "f16[3,16] f16[16,24]! _ f16[16,24]! combine=\"(f16,f16) %2=mul.f16(%0,%1) -> %2\""},
                .tolerance = 4e-3},
               Between::as_stored);
}

}  // namespace tenfold::ir
