// Random numbers as RandomFill.
#include "onnx_ops/ai_onnx/random_common.h"

#include "ops/onnx_dtype.h"

namespace tenfold::onnx_ops {

Value* random_numbers(OnnxImport& call, Value* shape, DType type, const char* distribution, float a, float b) {
  Attributes attributes{{"distribution", distribution}, {"a", a}, {"b", b}, {"dtype", std::string(name(type))}};
  if (call.attributes.has("seed")) attributes.set("seed", call.attributes.number("seed"));
  return call.add("RandomFill", {shape}, attributes)[0];
}

Value* uniform_of_seed(OnnxImport& call, Value* shape) {
  Attributes attributes{{"dtype", "f64"}};
  if (call.attributes.has("seed")) attributes.set("mt19937", call.attributes.integer("seed"));
  return call.add("RandomFill", {shape}, attributes)[0];
}

DType requested_type(const OnnxImport& call, DType otherwise) {
  return call.attributes.has("dtype") ? ops::dtype_from_onnx(call.attributes.integer("dtype")) : otherwise;
}

Drawn drawn_by_attributes(OnnxImport& call) { return {call.ints(call.attributes.ints("shape")), requested_type(call, DType::f32)}; }
Drawn drawn_like_operand(OnnxImport& call) {
  return {call.add("Shape", {call.given(0)}, {})[0], requested_type(call, call.in(0)->dtype())};
}

std::vector<Value*> normal(OnnxImport& call, const Drawn& drawn) {
  return {random_numbers(call, drawn.shape, drawn.type, "normal", call.attributes.number("mean", 0.0f),
                         call.attributes.number("scale", 1.0f))};
}
std::vector<Value*> uniform(OnnxImport& call, const Drawn& drawn) {
  return {random_numbers(call, drawn.shape, drawn.type, "uniform", call.attributes.number("low", 0.0f),
                         call.attributes.number("high", 1.0f))};
}

}  // namespace tenfold::onnx_ops
