// IOneHotLayer: indices, [off, on], depth.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  return {call.node("OneHot", {call.in(0), call.in(2), call.in(1)}, {{"axis", call.number("axis")}})};
}

}  // namespace

LayerKind layer_one_hot() {
  return {.name = "one_hot", .min_inputs = 3, .max_inputs = 3, .options = {{"axis", std::int64_t{-1}}}, .make = make};
}

}  // namespace tenfold::layers
