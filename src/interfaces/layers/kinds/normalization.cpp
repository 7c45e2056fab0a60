// INormalizationLayer: scale and bias have the rank of x. With groups: of channels, over all spatial dims; scale and
// bias have a number for each channel, or for each group.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

// From [1, channels or groups, 1, ...] to [channels].
NetworkTensor by_channel(const LayerCall& call, NetworkTensor numbers, std::int64_t groups) {
  if (call.rank(0) < 2) call.refuse("groups are of channels, and the input has one dimension");
  const std::int64_t channels = call.net.dims(call.in(0))[1].extent;
  if (groups < 1 || channels < 1 || channels % groups != 0)
    call.refuse(std::to_string(groups) + " groups do not divide " + std::to_string(channels) + " channels");
  NetworkTensor flat = call.node("Reshape", {numbers, call.integers({-1})});
  const std::int64_t given = call.net.dims(flat)[0].extent;
  if (given == channels) return flat;
  if (given != groups)
    call.refuse("scale and bias have " + std::to_string(given) + " numbers for " + std::to_string(groups) + " groups of " +
                std::to_string(channels) + " channels");
  flat = call.node("Expand", {call.node("Reshape", {flat, call.integers({groups, 1})}), call.integers({groups, channels / groups})});
  return call.node("Reshape", {flat, call.integers({channels})});
}

Network::Tensors make(const LayerCall& call) {
  const NetworkTensor x = call.in(0), scale = call.in(1), bias = call.in(2);
  const float epsilon = call.real("epsilon");
  const std::int64_t groups = call.number("num_groups");
  const int rank = call.rank(0);
  if (groups != 1) {
    return {call.node("GroupNormalization", {x, by_channel(call, scale, groups), by_channel(call, bias, groups)},
                      {{"epsilon", epsilon}, {"num_groups", groups}})};
  }
  const Shape axes = call.axes("axes", rank);
  if (axes.empty()) call.refuse("axes names no dimension");
  const NetworkTensor where = call.integers(axes);
  const NetworkTensor centered = call.node("Sub", {x, call.node("ReduceMean", {x, where})});
  const NetworkTensor variance = call.node("ReduceMean", {call.node("Mul", {centered, centered}), where});
  const NetworkTensor deviation = call.node("Sqrt", {call.node("Add", {variance, call.scalar(call.dtype(0), epsilon)})});
  return {call.node("Add", {call.node("Mul", {call.node("Div", {centered, deviation}), scale}), bias})};
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
