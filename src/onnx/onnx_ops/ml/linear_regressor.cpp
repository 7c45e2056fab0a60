// LinearRegressor: a product with coefficients, and intercepts.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  Value* x = call.given(0);
  if (x->dtype() != DType::f32) x = one(call, "Cast", {x}, {{"to", "f32"}});
  const std::string post = call.attributes.string("post_transform", "NONE");
  supported(post == "NONE", "post_transform '", post, "' of a LinearRegressor");
  const std::int64_t targets = call.attributes.integer("targets", 1);
  validate(call.attributes.has("coefficients"), "attribute 'coefficients' is missing");
  const Floats weights = call.attributes.floats("coefficients");
  const auto count = static_cast<std::int64_t>(weights.size());
  validate(targets >= 1 && count > 0 && count % targets == 0, count, " coefficients for ", targets, " targets");
  Value* w = filled(call, DType::f32, {targets, count / targets}, [&](auto* to) { std::copy(weights.begin(), weights.end(), to); });
  Value* product = one(call, "MatMul", {x, transposed(call, w, {1, 0})});
  const Floats bias = call.attributes.has("intercepts") ? call.attributes.floats("intercepts") : Floats();
  if (bias.empty()) return {product};
  validate(static_cast<std::int64_t>(bias.size()) == targets, bias.size(), " intercepts for ", targets, " targets");
  Value* b = filled(call, DType::f32, {targets}, [&](auto* to) { std::copy(bias.begin(), bias.end(), to); });
  return call.add("Add", {product, b}, {});
}

}  // namespace

OnnxOp onnx_ml_linear_regressor() { return {.name = "LinearRegressor", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
