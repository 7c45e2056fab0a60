// INonZeroLayer: [rank, found], i64.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) { return {call.node("NonZero", {call.in(0)})}; }

}  // namespace

LayerKind layer_non_zero() { return {.name = "non_zero", .min_inputs = 1, .max_inputs = 1, .options = {}, .make = make}; }

}  // namespace tenfold::layers
