// ISelectLayer.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) { return {call.node("Where", {call.in(0), call.in(1), call.in(2)})}; }

}  // namespace

LayerKind layer_select() { return {.name = "select", .min_inputs = 3, .max_inputs = 3, .options = {}, .make = make}; }

}  // namespace tenfold::layers
