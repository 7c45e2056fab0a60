// INormalizationLayer: scale and bias have the rank of x. With groups: of channels, over all spatial dims.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  const NetworkTensor x = call.in(0), scale = call.in(1), bias = call.in(2);
  const float epsilon = call.real("epsilon");
  const std::int64_t groups = call.number("num_groups");
  const int rank = call.rank(0);
  if (groups != 1) {
    const NetworkTensor flat = call.integers({-1});
    return {call.node("GroupNormalization", {x, call.node("Reshape", {scale, flat}), call.node("Reshape", {bias, flat})},
                      {{"epsilon", epsilon}, {"num_groups", groups}})};
  }
  const Shape axes = call.axes("axes", rank);
  if (axes.empty()) call.refuse("axes names no dimension");
  const NetworkTensor where = call.integers(axes);
  const NetworkTensor centred = call.node("Sub", {x, call.node("ReduceMean", {x, where})});
  const NetworkTensor variance = call.node("ReduceMean", {call.node("Mul", {centred, centred}), where});
  const NetworkTensor deviation = call.node("Sqrt", {call.node("Add", {variance, call.scalar(call.dtype(0), epsilon)})});
  return {call.node("Add", {call.node("Mul", {call.node("Div", {centred, deviation}), scale}), bias})};
}

}  // namespace

LayerKind layer_normalization() {
  return {.name = "normalization",
          .min_inputs = 3,
          .max_inputs = 3,
          .options = {{"axes", std::int64_t{0}}, {"epsilon", 1e-5f}, {"num_groups", std::int64_t{1}}},
          .make = make};
}

}  // namespace tenfold::layers
