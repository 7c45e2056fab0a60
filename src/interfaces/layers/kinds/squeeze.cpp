// ISqueezeLayer: operand 1 are the dims that go.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) { return {call.node("Squeeze", {call.in(0), call.as_i64(call.in(1))})}; }

}  // namespace

LayerKind layer_squeeze() { return {.name = "squeeze", .min_inputs = 2, .max_inputs = 2, .options = {}, .make = make}; }

}  // namespace tenfold::layers
