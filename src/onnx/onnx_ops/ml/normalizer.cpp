// Normalizer: rows divided by their largest magnitude, by the sum of magnitudes, or by their length.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  Value* x = call.given(0);
  if (x->dtype() != DType::f32) x = one(call, "Cast", {x}, {{"to", "f32"}});
  const std::string norm = call.attributes.string("norm", "MAX");
  validate(norm == "MAX" || norm == "L1" || norm == "L2", "norm is '", norm, "'; the standard has MAX, L1 and L2");
  const Attributes along{{"axes", Ints{-1}}, {"keepdims", 1}};
  Value* by = norm == "MAX" ? one(call, "ReduceMax", {one(call, "Abs", {x})}, along)
                            : one(call, norm == "L1" ? "ReduceL1" : "ReduceL2", {x}, along);
  return call.add("Div", {x, one(call, "Max", {by, call.scalar(DType::f32, 1e-30)})}, {});
}

}  // namespace

OnnxOp onnx_ml_normalizer() { return {.name = "Normalizer", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
