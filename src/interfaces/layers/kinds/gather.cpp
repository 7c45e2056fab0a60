// IGatherLayer.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  const NetworkTensor data = call.in(0), indices = call.in(1);
  const std::int64_t axis = call.number("axis"), shared = call.number("num_elementwise_dims");
  switch (call.choice("mode", {"DEFAULT", "ELEMENT", "ND"})) {
    case 1: return {call.node("GatherElements", {data, indices}, {{"axis", axis}})};
    case 2: return {call.node("GatherND", {data, call.as_i64(indices)}, {{"batch_dims", shared}})};
    default: break;
  }
  if (shared == 0) return {call.node("Gather", {data, indices}, {{"axis", axis}})};
  if (shared != 1 || axis != 1)
    call.refuse(ErrorKind::unsupported, "num_elementwise_dims = " + std::to_string(shared) + " is there for axis 1 and one shared dim");
  // Each index of a row names an element of that row.
  return {call.node("GatherND", {data, call.node("Unsqueeze", {call.as_i64(indices), call.integers({-1})})}, {{"batch_dims", shared}})};
}

}  // namespace

LayerKind layer_gather() {
  return {.name = "gather",
          .min_inputs = 2,
          .max_inputs = 2,
          .options = {{"axis", std::int64_t{0}}, {"mode", std::string("DEFAULT")}, {"num_elementwise_dims", std::int64_t{0}}},
          .make = make};
}

}  // namespace tenfold::layers
