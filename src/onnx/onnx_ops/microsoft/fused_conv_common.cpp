// Conv, Add and an activation, which stays a node of its own: rules of the graph fuse them for each device.
#include "onnx_ops/microsoft/fused_conv_common.h"

namespace tenfold::onnx_ops {
namespace {

Value* activated(OnnxImport& call, Value* x, const std::string& activation, const Floats& p) {
  const auto takes = [&](std::size_t count) {
    validate(p.size() >= count, activation, " has ", p.size(), " activation_params, ", count, " expected");
  };
  if (activation.empty()) return x;
  if (activation == "Relu" || activation == "Sigmoid" || activation == "Tanh" || activation == "HardSwish")
    return one(call, activation, {x});
  if (activation == "LeakyRelu") return takes(1), one(call, activation, {x}, {{"alpha", p[0]}});
  if (activation == "HardSigmoid") return takes(2), one(call, activation, {x}, {{"alpha", p[0]}, {"beta", p[1]}});
  supported(activation == "Clip", "the activation '", activation, "' of a fused convolution is not known");
  takes(2);
  return one(call, activation, {x, call.scalar(x->dtype(), p[0]), call.scalar(x->dtype(), p[1])});
}

}  // namespace

Value* fused_convolution(OnnxImport& call, Value* images, Value* residual) {
  Attributes attributes = call.attributes;
  const std::string activation = attributes.string("activation", "");
  const Floats parameters = attributes.has("activation_params") ? attributes.floats("activation_params") : Floats{};
  attributes.erase("activation"), attributes.erase("activation_params");
  std::vector<Value*> operands{images, call.given(1)};
  if (call.in(2)) operands.push_back(call.in(2));
  Value* sums = one(call, "Conv", operands, attributes);
  if (residual) sums = one(call, "Add", {sums, residual});
  return activated(call, sums, activation, parameters);
}

}  // namespace tenfold::onnx_ops
