// IScatterLayer: data, indices, updates.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  if (call.choice("mode", {"ELEMENT", "ND"}) == 1) return {call.node("ScatterND", {call.in(0), call.as_i64(call.in(1)), call.in(2)})};
  return {call.node("ScatterElements", {call.in(0), call.in(1), call.in(2)}, {{"axis", call.number("axis")}})};
}

}  // namespace

LayerKind layer_scatter() {
  return {.name = "scatter",
          .min_inputs = 3,
          .max_inputs = 3,
          .options = {{"mode", std::string("ELEMENT")}, {"axis", std::int64_t{0}}},
          .make = make};
}

}  // namespace tenfold::layers
