// INonZeroLayer: [rank, found], i64.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) { return {call.as_indices(call.node("NonZero", {call.in(0)}), "indices_type")}; }

}  // namespace

LayerKind layer_non_zero() {
  return {.name = "non_zero", .min_inputs = 1, .max_inputs = 1, .options = {{"indices_type", std::string("INT64")}}, .make = make};
}

}  // namespace tenfold::layers
