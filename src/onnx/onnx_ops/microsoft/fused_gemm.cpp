// FusedGemm: a product, a bias and an activation, whose attributes carry its name in front.
#include <algorithm>

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  Attributes own, rest;
  for (const auto& [key, value] : call.attributes) {
    if (key.starts_with("activation_")) own.set(key.substr(11), value);
    else if (key != "activation") rest.set(key, value);
  }
  const std::string activation = call.attributes.string("activation", "");
  if (activation.empty()) return {one(call, "Gemm", call.inputs, rest)};
  constexpr const char* kKnown[] = {"Elu",     "HardSigmoid", "LeakyRelu", "Relu", "Selu",
                                    "Sigmoid", "Softplus",    "Softsign",  "Tanh", "ThresholdedRelu"};
  supported(std::find(std::begin(kKnown), std::end(kKnown), activation) != std::end(kKnown), "the activation '", activation,
            "' of a fused GEMM is not supported");
  return {one(call, activation, {one(call, "Gemm", call.inputs, rest)}, own)};
}

}  // namespace

OnnxOp onnx_microsoft_fused_gemm() { return {.name = "FusedGemm", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
