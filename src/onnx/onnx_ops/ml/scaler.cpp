// Scaler: (x - offset) * scale, column by column.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

Value* row_of(OnnxImport& call, const std::string& name, const Floats& standard) {
  const Floats list = call.attributes.has(name) ? call.attributes.floats(name) : standard;
  validate(!list.empty(), "attribute '", name, "' is empty");
  return filled(call, DType::f32, {static_cast<std::int64_t>(list.size())}, [&](auto* to) { std::copy(list.begin(), list.end(), to); });
}

std::vector<Value*> from_1(OnnxImport& call) {
  Value* x = call.given(0);
  if (x->dtype() != DType::f32) x = one(call, "Cast", {x}, {{"to", "f32"}});
  return call.add("Mul", {one(call, "Sub", {x, row_of(call, "offset", {0})}), row_of(call, "scale", {1})}, {});
}

}  // namespace

OnnxOp onnx_ml_scaler() { return {.name = "Scaler", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
