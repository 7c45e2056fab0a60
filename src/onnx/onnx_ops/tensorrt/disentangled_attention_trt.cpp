// DisentangledAttention_TRT: DeBERTa's scores: of contents by contents, of contents by positions, of positions by contents.
//
// Operands: contents by contents [heads, rows, rows]; by each of 2 span distances [heads, rows, 2 span], twice.
// y[i,j] = (a[i,j] + b[i, at(i - j)] + c[j, at(i - j)]) factor. Distances up to span / 2 have a column each, larger ones share columns
// by their logarithm.
#include "onnx_ops/tensorrt/plugin_common.h"

namespace tenfold::onnx_ops {
namespace {

struct Floats32 {
  OnnxImport& call;
  Value* number(double v) const { return call.scalar(DType::f32, v); }
  Value* operator()(const char* op, Value* a, Value* b) const { return one(call, op, {a, b}); }
};

// The columns of all pairs of rows, [rows, rows].
Value* columns(OnnxImport& call, Value* rows, std::int64_t span) {
  const Floats32 f{call};
  const auto middle = static_cast<double>(span / 2), last = static_cast<double>(2 * span - 1);
  Value* at = one(call, "Cast", {counted(call, rows)}, {{"to", "f32"}});
  Value* distance = f("Sub", unsqueezed(call, at, {1}), unsqueezed(call, at, {0}));
  Value* size = one(call, "Abs", {distance});
  Value* log_of_middle = one(call, "Log", {f.number(middle)});
  // A little less than 1, so that a whole number is not rounded up to the next.
  Value* scale = f("Mul", f("Div", f.number(middle - 1), f("Sub", one(call, "Log", {f.number(last)}), log_of_middle)),
                   f.number(static_cast<double>(1.0f - 1e-7f)));
  Value* shared = f("Add", one(call, "Ceil", {f("Mul", f("Sub", one(call, "Log", {f("Max", size, f.number(1))}), log_of_middle), scale)}),
                    f.number(middle));
  Value* bucket = one(call, "Where", {f("LessOrEqual", size, f.number(middle)), distance, f("Mul", shared, one(call, "Sign", {distance}))});
  Value* column = one(call, "Clip", {f("Add", bucket, f.number(static_cast<double>(span))), f.number(0), f.number(last)});
  return one(call, "Cast", {column}, {{"to", "i64"}});
}

std::vector<Value*> from_1(OnnxImport& call) {
  expect_fields(call, {"span", "factor"});
  for (int i = 0; i < 3; ++i) {
    expect_float(call, i);
    check_shape(known_rank(call, i) == 3, "operand ", i, " has rank ", known_rank(call, i), ", 3 expected");
  }
  const std::int64_t span = integer_field(call, "span", 0);
  validate(span >= 4 && span < 1 << 20, "span is ", span, ", 4 to 2^20 expected");
  Value *scores = call.in(0), *rows = extent(call, scores, 1);
  Value* shape = one(call, "Concat", {extent(call, scores, 0), rows, rows}, {{"axis", 0}});
  Value* at = columns(call, rows, span);
  const auto taken = [&](Value* from, Value* index) {
    return one(call, "GatherElements", {from, one(call, "Expand", {index, shape})}, {{"axis", 2}});
  };
  Value* by_position = taken(call.in(1), at);
  Value* by_content = transposed(call, taken(call.in(2), transposed(call, at, {1, 0})), {0, 2, 1});
  Value* sum = one(call, "Add", {one(call, "Add", {scores, by_position}), by_content});
  return call.add("Mul", {sum, call.scalar(scores->dtype(), static_cast<double>(number_field(call, "factor", 1.0f)))}, {});
}

}  // namespace

OnnxOp onnx_tensorrt_disentangled_attention_trt() { return {.name = "DisentangledAttention_TRT", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
