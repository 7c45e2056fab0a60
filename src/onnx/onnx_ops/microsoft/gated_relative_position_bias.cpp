// GatedRelativePositionBias: WavLM's bias of attention, scaled for each query by two gates that its own projection gives.
//
// Operands: queries [batch, rows, heads * size], or [tokens, heads * size] without those that pad; their bias; position bias
// [1, heads, rows, rows]; weights [size, D] and bias [D] of the gates; eco_a [1, heads, 1, 1]; places of tokens [batch, rows].
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

// Tokens at their places among those that pad, which are 0. The first entries of operand 6 say where tokens are.
Value* with_padding(OnnxImport& call) {
  const int rank = known_rank(call, 6);
  check_shape(rank == 2, "the places of tokens (input 6) have rank ", rank, ", [batch, rows] expected");
  Value *tokens = call.in(0), *places = one(call, "Cast", {reshaped(call, call.in(6), {-1})}, {{"to", "i64"}});
  Value* taken = one(call, "Slice", {places, call.ints({0}), extent(call, tokens, 0), call.ints({0})});
  Value* width = extent(call, tokens, 1);
  Value* shape = one(call, "Concat", {extent(call, places, 0), width}, {{"axis", 0}});
  Value* zeros = one(call, "Expand", {call.scalar(tokens->dtype(), 0), shape});
  Value* rows = one(call, "ScatterND", {zeros, unsqueezed(call, taken, {1}), tokens});
  return one(call, "Reshape", {rows, one(call, "Concat", {one(call, "Shape", {call.in(6)}), width}, {{"axis", 0}})});
}

// Weights and bias in two halves, which are added up: the gates are sums over columns of one product.
Value* halves(OnnxImport& call, Value* columns, Ints shape) {
  return one(call, "ReduceSum", {reshaped(call, columns, shape), call.ints({-1})}, {{"keepdims", 0}});
}

std::vector<Value*> from_1(OnnxImport& call) {
  const std::int64_t heads = call.attributes.integer("num_heads");
  validate(heads > 0, "num_heads is ", heads, ", more than 0 expected");
  expect_float(call, 0);
  const int rank = known_rank(call, 0);
  check_shape(rank == 3 || (rank == 2 && call.in(6)), "the queries (input 0) have rank ", rank,
              ", 3 expected, or 2 with the places of tokens (input 6)");
  const Dim width = call.in(0)->dims().back();
  check_shape(!width.is_constant() || width.constant() % heads == 0, width.text(), " columns of queries do not divide into ", heads,
              " heads");
  const int weights = known_rank(call, 3), bias = known_rank(call, 4);
  check_shape(weights == 2 && bias == 1, "the gates' weights and bias (inputs 3 and 4) have ranks ", weights, " and ", bias,
              ", 2 and 1 expected");
  const Dim columns = call.in(3)->dims()[1];
  check_shape(!columns.is_constant() || columns.constant() % 2 == 0, "the gates' weights (input 3) have ", columns.text(),
              " columns, an even number expected");
  Value* queries = one(call, "Add", {rank == 2 ? with_padding(call) : call.in(0), call.given(1)});
  queries = transposed(call, reshaped(call, queries, {0, 0, heads, -1}), {0, 2, 1, 3});
  Value* sums = one(call, "MatMul", {queries, halves(call, call.in(3), {0, 2, -1})});
  Value* gates = one(call, "Sigmoid", {one(call, "Add", {sums, halves(call, call.in(4), {2, -1})})});
  const auto gate = [&](std::int64_t i) {
    return one(call, "Slice", {gates, call.ints({i}), call.ints({i + 1}), call.ints({3})});
  };
  const auto number = [&](double value) { return call.scalar(gates->dtype(), value); };
  Value* inner = one(call, "Sub", {one(call, "Mul", {gate(1), call.given(5)}), number(1)});
  Value* scale = one(call, "Add", {one(call, "Mul", {gate(0), inner}), number(2)});
  return {one(call, "Mul", {scale, call.given(2)})};
}

}  // namespace

OnnxOp onnx_microsoft_gated_relative_position_bias() { return {.name = "GatedRelativePositionBias", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
