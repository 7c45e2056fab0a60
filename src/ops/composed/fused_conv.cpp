// FusedConv: a convolution, a residual (operand 3) and an activation. FusedGemm: a product, a bias and an activation.
#include <algorithm>

#include "ops/composed/composed_common.h"

namespace tenfold::ir {
namespace {

using ops::one;

Value* activated(OnnxImport& call, Value* x, const std::string& activation, const Floats& p) {
  const auto need = [&](std::size_t count) {
    require(p.size() >= count, ErrorKind::invalid_model, activation, " has ", p.size(), " activation_params, ", count, " expected");
  };
  if (activation.empty()) return x;
  if (activation == "Relu" || activation == "Sigmoid" || activation == "Tanh" || activation == "HardSwish")
    return one(call, activation, {x});
  if (activation == "LeakyRelu") return need(1), one(call, activation, {x}, {{"alpha", p[0]}});
  if (activation == "HardSigmoid") return need(2), one(call, activation, {x}, {{"alpha", p[0]}, {"beta", p[1]}});
  if (activation == "Clip") return need(2), one(call, activation, {x, call.scalar(x->dtype(), p[0]), call.scalar(x->dtype(), p[1])});
  fail(ErrorKind::unsupported, cat("the activation '", activation, "' of a fused convolution is not known"));
}

std::vector<Value*> from_onnx(OnnxImport& call) {
  Attributes attributes = call.attributes;
  const std::string activation = attributes.string("activation", "");
  const Floats parameters = attributes.has("activation_params") ? attributes.floats("activation_params") : Floats{};
  attributes.erase("activation"), attributes.erase("activation_params");
  std::vector<Value*> operands{call.need(0), call.need(1)};
  if (call.in(2)) operands.push_back(call.in(2));
  return {activated(call, ops::plus_optional(call, one(call, "Conv", operands, attributes), 3), activation, parameters)};
}

// The activation's own attributes carry its name in front.
std::vector<Value*> gemm(OnnxImport& call) {
  Attributes own, rest;
  for (const auto& [key, value] : call.attributes) {
    if (key.starts_with("activation_")) own.set(key.substr(11), value);
    else if (key != "activation") rest.set(key, value);
  }
  const std::string activation = call.attributes.string("activation", "");
  constexpr const char* kKnown[] = {"Elu",     "HardSigmoid", "LeakyRelu", "Relu", "Selu",
                                    "Sigmoid", "Softplus",    "Softsign",  "Tanh", "ThresholdedRelu"};
  require(std::find(std::begin(kKnown), std::end(kKnown), activation) != std::end(kKnown), ErrorKind::unsupported, "the activation '",
          activation, "' of a fused product is not known");
  return {one(call, activation, {one(call, "Gemm", call.inputs, rest)}, own)};
}

}  // namespace

OpDef op_fused_conv() {
  return ops::composed({{"FusedConv", 1, from_onnx, ops::kMicrosoft}, {"FusedGemm", 1, gemm, ops::kMicrosoft}});
}

}  // namespace tenfold::ir
