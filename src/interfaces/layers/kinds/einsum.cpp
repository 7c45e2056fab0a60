// IEinsumLayer.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) { return {call.node("Einsum", call.all(), {{"equation", call.text("equation")}})}; }

}  // namespace

LayerKind layer_einsum() {
  return {.name = "einsum", .min_inputs = 1, .max_inputs = -1, .options = {{"equation", std::string()}}, .make = make};
}

}  // namespace tenfold::layers
