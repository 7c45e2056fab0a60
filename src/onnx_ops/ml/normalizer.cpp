// Normalizer: rows divided by their largest magnitude, by the sum of magnitudes, or by their length.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  Value* x = call.need(0);
  if (x->dtype() != DType::f32) x = one(call, "Cast", {x}, {{"to", "f32"}});
  const std::string norm = call.attributes.string("norm", "MAX");
  require_sound(norm == "MAX" || norm == "L1" || norm == "L2", "norm is '", norm, "'; the standard has MAX, L1 and L2");
  Value* axes = call.ints({-1});
  const Attributes kept{{"keepdims", 1}};
  // ONNX Runtime divides by the largest element itself, the standard's reference by its magnitude; the standard's text says "Max".
  Value* by = norm == "MAX"  ? one(call, "ReduceMax", {one(call, "Abs", {x}), axes}, kept)
              : norm == "L1" ? one(call, "ReduceSum", {one(call, "Abs", {x}), axes}, kept)
                             : one(call, "Sqrt", {one(call, "ReduceSum", {one(call, "Mul", {x, x}), axes}, kept)});
  return call.add("Div", {x, one(call, "Max", {by, call.scalar(DType::f32, 1e-30)})}, {});
}

}  // namespace

OnnxOp onnx_ml_normalizer() { return {.name = "Normalizer", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
