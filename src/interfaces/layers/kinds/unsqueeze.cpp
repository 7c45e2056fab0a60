// IUnsqueezeLayer: operand 1 are the dims that come.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) { return {call.node("Unsqueeze", {call.in(0), call.as_i64(call.in(1))})}; }

}  // namespace

LayerKind layer_unsqueeze() { return {.name = "unsqueeze", .min_inputs = 2, .max_inputs = 2, .options = {}, .make = make}; }

}  // namespace tenfold::layers
