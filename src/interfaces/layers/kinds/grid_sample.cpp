// IGridSampleLayer.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  static constexpr const char *kModes[] = {"nearest", "linear", "cubic"}, *kBorders[] = {"zeros", "border", "reflection"};
  const std::string mode = kModes[call.choice("interpolation_mode", {"NEAREST", "LINEAR", "CUBIC"})];
  const std::string border = kBorders[call.choice("sample_mode", {"FILL", "CLAMP", "REFLECT"})];
  return {call.node("GridSample", {call.in(0), call.in(1)},
                    {{"mode", mode}, {"padding_mode", border}, {"align_corners", call.number("align_corners")}})};
}

}  // namespace

LayerKind layer_grid_sample() {
  return {
      .name = "grid_sample",
      .min_inputs = 2,
      .max_inputs = 2,
      .options = {{"interpolation_mode", std::string("LINEAR")}, {"align_corners", std::int64_t{0}}, {"sample_mode", std::string("FILL")}},
      .make = make};
}

}  // namespace tenfold::layers
