// Matrices of a transform from counters: angles are reduced in integers, so that long ones keep their accuracy.
#include "onnx_ops/ai_onnx/fourier_run_common.h"

#include <cmath>

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

Value* integer(OnnxImport& call, std::int64_t value) { return call.ints({value}); }
Value* cast(OnnxImport& call, Value* value, DType type) { return one(call, "Cast", {value}, {{"to", std::string(name(type))}}); }

// 1, or 2 for rows of a half spectrum that stand for their conjugates, too; f64[rows, 1].
Value* weights_of_half(OnnxImport& call, Value* row, Value* length) {
  Value* alone = one(call, "Or", {one(call, "Equal", {row, integer(call, 0)}),
                                  one(call, "Equal", {one(call, "Mul", {row, integer(call, 2)}), length})});
  return one(call, "Where", {alone, call.scalar(DType::f64, 1), call.scalar(DType::f64, 2)});
}

}  // namespace

Value* single(OnnxImport& call, Value* value) { return reshaped(call, cast(call, value, DType::i64), {1}); }

Value* transformed_at_run(OnnxImport& call, Value* x, std::int64_t parts, const RunTransform& t) {
  const DType type = x->dtype();
  Value* used = t.from_half ? one(call, "Add", {one(call, "Div", {t.length, integer(call, 2)}), integer(call, 1)}) : t.length;
  Value* rows = one(call, "Min", {extent(call, x, 1), used});
  x = one(call, "Slice", {x, integer(call, 0), rows, integer(call, 1)});
  Value* row = unsqueezed(call, counted(call, rows), {1});
  Value* column = unsqueezed(call, counted(call, t.bins), {0});
  Value* place = one(call, "Mod", {one(call, "Mul", {row, column}), t.length});
  Value* length = cast(call, t.length, DType::f64);
  Value* angle = one(call, "Div", {one(call, "Mul", {cast(call, place, DType::f64), call.scalar(DType::f64, 2 * M_PI)}), length});
  const auto sums_with = [&](const char* wave) {   // [outer, bins, inner, parts]
    Value* matrix = one(call, wave, {angle});
    if (t.from_half) matrix = one(call, "Mul", {matrix, weights_of_half(call, row, t.length)});
    if (t.inverse) matrix = one(call, "Div", {matrix, length});
    return exact(one(call, "Einsum", {x, cast(call, matrix, type)}, {{"equation", "ONIC,NK->OKIC"}}));
  };
  // (a + bi)(cos + turn i sin), where turn is 1 of an inverse and else -1
  Value *cosines = sums_with("Cos"), *sines = sums_with("Sin");
  if (!t.inverse) sines = one(call, "Neg", {sines});
  if (parts == 1) return t.from_half ? cosines : one(call, "Concat", {cosines, sines}, {{"axis", 3}});
  const auto part = [&](Value* sums, std::int64_t i) {
    return one(call, "Slice", {sums, integer(call, i), integer(call, i + 1), integer(call, 3)});
  };
  Value* real = exact(one(call, "Sub", {part(cosines, 0), part(sines, 1)}));
  if (t.from_half) return real;
  return one(call, "Concat", {real, exact(one(call, "Add", {part(sines, 0), part(cosines, 1)}))}, {{"axis", 3}});
}

}  // namespace tenfold::onnx_ops
