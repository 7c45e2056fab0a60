// InstanceNormalization_TRT: InstanceNormalization, whose scale and bias are operands or attributes, and LeakyRelu of slope alpha.
#include <algorithm>

#include "onnx_ops/tensorrt/plugin_common.h"

namespace tenfold::onnx_ops {
namespace {

Value* weights(OnnxImport& call, int operand, const char* name) {
  if (Value* given = call.in(operand)) return given;
  const Floats values = numbers_field(call, name);
  return filled(call, call.in(0)->dtype(), {static_cast<std::int64_t>(values.size())}, [&](auto* to) {
    for (const float v : values) *to++ = v;
  });
}

std::vector<Value*> from_1(OnnxImport& call) {
  expect_fields(call, {"epsilon", "scale", "bias", "relu", "alpha"});
  expect_float(call, 0);
  Value* y = one(call, "InstanceNormalization", {call.in(0), weights(call, 1, "scale"), weights(call, 2, "bias")},
                 {{"epsilon", number_field(call, "epsilon", 1e-5f)}});
  if (integer_field(call, "relu", 0) == 0) return {y};
  return call.add("LeakyRelu", {y}, {{"alpha", number_field(call, "alpha", 0.0f)}});
}

}  // namespace

OnnxOp onnx_tensorrt_instance_normalization_trt() { return {.name = "InstanceNormalization_TRT", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
