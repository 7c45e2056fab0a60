// FlexAttention: attention whose scores and weights the model's own graphs change.
//
// Operands: Q [batch, heads, rows, size], K and V [batch, heads of their own, ...]. Several heads of Q share one of K: they are rows of it.
#include <cmath>

#include "onnx_ops/convert_common.h"
#include "ops/onnx_dtype.h"

namespace tenfold::onnx_ops {
namespace {

Value* cast(OnnxImport& call, Value* value, DType type) {
  return value->dtype() == type ? value : one(call, "Cast", {value}, {{"to", std::string(name(type))}});
}

Value* changed(OnnxImport& call, const char* graph, Value* value) {
  if (!call.has_graph(graph)) return value;
  const std::vector<Value*> results = call.add_body(graph, {value});
  validate(results.size() == 1, graph, " has ", results.size(), " results, one expected");
  return results[0];
}

// The constant number of heads of an operand.
std::int64_t heads_of(OnnxImport& call, int i) {
  check_shape(known_rank(call, i) == 4, "operand ", i, " has rank ", call.in(i)->rank(), ", 4 expected");
  const Dim heads = call.in(i)->dims()[1];
  supported(heads.is_constant(), "operand ", i, " has ", heads.text(), " heads, a constant number is supported");
  return heads.constant();
}

// [batch, first, heads / first * rows, columns] of [batch, heads, rows, columns], or the other way; columns are the operand's.
Value* regrouped(OnnxImport& call, Value* value, std::int64_t first, Value* rows) {
  Value* shape = one(call, "Concat", {call.ints({0, first}), rows, extent(call, value, 3)}, {{"axis", 0}});
  return one(call, "Reshape", {value, shape});
}

std::vector<Value*> from_1(OnnxImport& call) {
  for (int i = 0; i < 3; ++i) expect_float(call, i);
  const std::int64_t heads = heads_of(call, 0), shared = heads_of(call, 1);
  check_shape(heads_of(call, 2) == shared, "K has ", shared, " heads, V ", heads_of(call, 2));
  check_shape(shared > 0 && heads % shared == 0, heads, " heads of queries, a multiple of ", shared, ", those of keys, expected");
  const DType type = call.in(0)->dtype();
  const Dim size = call.in(0)->dims()[3];
  supported(size.is_constant() || call.attributes.has("scale"), "the head size is ", size.text(), ", a constant one is supported");
  const double scale = call.attributes.has("scale") ? call.attributes.number("scale")
                                                    : 1 / std::sqrt(static_cast<double>(size.constant()));
  const DType precise = call.attributes.has("softmax_precision") ? ops::dtype_from_onnx(call.attributes.integer("softmax_precision"))
                        : type == DType::f64                     ? DType::f64
                                                                 : DType::f32;
  Value *q = call.in(0), *rows = extent(call, q, 2), *all_rows = call.ints({-1});
  const bool grouped = heads != shared;
  if (grouped) q = regrouped(call, q, shared, all_rows);
  Value* scores = one(call, "MatMul", {q, transposed(call, call.in(1), {0, 1, 3, 2})});
  scores = one(call, "Mul", {cast(call, scores, precise), call.scalar(precise, scale)});
  if (grouped) scores = regrouped(call, scores, heads, rows);
  scores = changed(call, "score_mod", scores);
  Value* weights = changed(call, "prob_mod", one(call, "Softmax", {scores}, {{"axis", -1}}));
  weights = cast(call, weights, type);
  if (grouped) weights = regrouped(call, weights, shared, all_rows);
  Value* y = one(call, "MatMul", {weights, call.in(2)});
  return {grouped ? regrouped(call, y, heads, rows) : y};
}

}  // namespace

OnnxOp onnx_preview_flex_attention() { return {.name = "FlexAttention", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
