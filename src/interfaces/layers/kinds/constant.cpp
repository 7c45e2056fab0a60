// IConstantLayer. The result is a value of its own, so that the constant keeps the name by which it is refitted.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) { return {call.node("Identity", {call.weights("weights", call.list("shape"))})}; }

}  // namespace

LayerKind layer_constant() {
  return {.name = "constant", .min_inputs = 0, .max_inputs = 0, .options = {{"weights", Tensor()}, {"shape", Shape{}}}, .make = make};
}

}  // namespace tenfold::layers
