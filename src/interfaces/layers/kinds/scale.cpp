// IScaleLayer: (x * scale + shift) ^ power; weights that are not set are left out.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  const std::size_t mode = call.choice("mode", {"UNIFORM", "CHANNEL", "ELEMENTWISE"});
  const std::vector<NetworkDim> dims = call.net.dims(call.in(0));
  const std::int64_t first = call.number("channel_axis");
  if (first < 0 || first >= static_cast<std::int64_t>(dims.size()))
    call.refuse("channel_axis " + std::to_string(first) + " is no dim of x");
  Shape shape;
  for (std::size_t d = static_cast<std::size_t>(first); mode != 0 && d < dims.size(); ++d) {
    const bool spread = mode == 1 && d > static_cast<std::size_t>(first);
    if (!spread && !dims[d].name.empty()) call.refuse("the extent of dim " + std::to_string(d) + " has to be a number");
    shape.push_back(spread ? 1 : dims[d].extent);
  }
  NetworkTensor y = call.in(0);
  if (call.has_tensor("scale")) y = call.node("Mul", {y, call.weights("scale", shape)});
  if (call.has_tensor("shift")) y = call.node("Add", {y, call.weights("shift", shape)});
  if (call.has_tensor("power")) y = call.node("Pow", {y, call.weights("power", shape)});
  return {y.index == call.in(0).index ? call.node("Identity", {y}) : y};
}

}  // namespace

LayerKind layer_scale() {
  return {.name = "scale",
          .min_inputs = 1,
          .max_inputs = 1,
          .options = {{"mode", std::string("UNIFORM")},
                      {"channel_axis", std::int64_t{1}},
                      {"shift", Tensor()},
                      {"scale", Tensor()},
                      {"power", Tensor()}},
          .make = make};
}

}  // namespace tenfold::layers
