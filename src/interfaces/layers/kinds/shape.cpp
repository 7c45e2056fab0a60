// IShapeLayer: i64, as since 10.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) { return {call.keep(call.net.shape(call.in(0)))}; }

}  // namespace

LayerKind layer_shape() { return {.name = "shape", .min_inputs = 1, .max_inputs = 1, .options = {}, .make = make}; }

}  // namespace tenfold::layers
