// ILRNLayer, over channels.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  return {call.node(
      "LRN", {call.in(0)},
      {{"size", call.number("window_size")}, {"alpha", call.real("alpha")}, {"beta", call.real("beta")}, {"bias", call.real("k")}})};
}

}  // namespace

LayerKind layer_lrn() {
  return {.name = "lrn",
          .min_inputs = 1,
          .max_inputs = 1,
          .options = {{"window_size", std::int64_t{5}}, {"alpha", 0.0f}, {"beta", 0.0f}, {"k", 1.0f}},
          .make = make};
}

}  // namespace tenfold::layers
