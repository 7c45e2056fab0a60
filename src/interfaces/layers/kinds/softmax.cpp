// ISoftMaxLayer. axes 0: TensorRT'\''s choice, the third dim from the end, or the first.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  const int rank = call.rank(0);
  return {call.node("Softmax", {call.in(0)}, {{"axis", call.number("axes") == 0 ? std::max(0, rank - 3) : call.axis("axes", rank)}})};
}

}  // namespace

LayerKind layer_softmax() {
  return {.name = "softmax", .min_inputs = 1, .max_inputs = 1, .options = {{"axes", std::int64_t{0}}}, .make = make};
}

}  // namespace tenfold::layers
