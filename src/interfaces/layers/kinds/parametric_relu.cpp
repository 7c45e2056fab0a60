// IParametricReLULayer.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) { return {call.node("PRelu", {call.in(0), call.in(1)})}; }

}  // namespace

LayerKind layer_parametric_relu() { return {.name = "parametric_relu", .min_inputs = 2, .max_inputs = 2, .options = {}, .make = make}; }

}  // namespace tenfold::layers
