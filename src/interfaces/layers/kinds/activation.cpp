// IActivationLayer. What alpha and beta mean is in NvInfer.h's ActivationType; where they are not set, they have ONNX's values.
#include <cmath>
#include <limits>

#include "layers/layer.h"

namespace tenfold::layers {
namespace {

struct Form {
  const char* word;
  const char* op;
  const char *alpha, *beta;  // what ONNX calls them
};
constexpr Form kForms[] = {{"RELU", "Relu", nullptr, nullptr},
                           {"SIGMOID", "Sigmoid", nullptr, nullptr},
                           {"TANH", "Tanh", nullptr, nullptr},
                           {"LEAKY_RELU", "LeakyRelu", "alpha", nullptr},
                           {"ELU", "Elu", "alpha", nullptr},
                           {"SELU", "Selu", "alpha", "gamma"},
                           {"SOFTSIGN", "Softsign", nullptr, nullptr},
                           {"HARD_SIGMOID", "HardSigmoid", "alpha", "beta"},
                           {"THRESHOLDED_RELU", "ThresholdedRelu", "alpha", nullptr},
                           {"GELU_ERF", "Gelu", nullptr, nullptr}};

Network::Tensors make(const LayerCall& call) {
  const NetworkTensor x = call.in(0);
  const float alpha = call.real("alpha"), beta = call.real("beta");
  const auto times = [&](float factor, NetworkTensor y) {
    return std::isnan(factor) ? y : call.node("Mul", {y, call.scalar(call.dtype(0), factor)});
  };
  const auto bound = [&](float value) { return std::isnan(value) ? NetworkTensor{} : call.scalar(call.dtype(0), value); };
  const std::string& type = call.text("type");
  if (type == "CLIP") return {call.node("Clip", {x, bound(alpha), bound(beta)})};
  if (type == "SCALED_TANH") return {times(alpha, call.node("Tanh", {times(beta, x)}))};
  if (type == "SOFTPLUS") return {times(alpha, call.node("Softplus", {times(beta, x)}))};
  if (type == "GELU_TANH") return {call.node("Gelu", {x}, {{"approximate", std::string("tanh")}})};
  for (const Form& form : kForms) {
    if (type != form.word) continue;
    NetworkAttributes attributes;
    if (form.alpha && !std::isnan(alpha)) attributes[form.alpha] = alpha;
    if (form.beta && !std::isnan(beta)) attributes[form.beta] = beta;
    return {call.node(form.op, {x}, attributes)};
  }
  call.refuse(ErrorKind::unsupported, "there is no activation '" + type + "'");
}

}  // namespace

LayerKind layer_activation() {
  constexpr float kUnset = std::numeric_limits<float>::quiet_NaN();
  return {.name = "activation", .options = {{"type", std::string("RELU")}, {"alpha", kUnset}, {"beta", kUnset}}, .make = make};
}

}  // namespace tenfold::layers
