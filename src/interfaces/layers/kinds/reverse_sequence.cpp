// IReverseSequenceLayer.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  return {call.node("ReverseSequence", {call.in(0), call.as_i64(call.in(1))},
                    {{"batch_axis", call.number("batch_axis")}, {"time_axis", call.number("sequence_axis")}})};
}

}  // namespace

LayerKind layer_reverse_sequence() {
  return {.name = "reverse_sequence",
          .min_inputs = 2,
          .max_inputs = 2,
          .options = {{"batch_axis", std::int64_t{1}}, {"sequence_axis", std::int64_t{0}}},
          .make = make};
}

}  // namespace tenfold::layers
