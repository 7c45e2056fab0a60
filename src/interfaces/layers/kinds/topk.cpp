// ITopKLayer. k is the option, or operand 1. Results: values, and indices.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  const auto largest = static_cast<std::int64_t>(call.choice("op", {"MIN", "MAX"}));
  NetworkTensor k = call.integers({call.number("k")});
  if (call.has(1)) k = call.node("Reshape", {call.as_i64(call.in(1)), call.integers({1})});
  const Network::Tensors found = call.nodes("TopK", {call.in(0), k}, 2, {{"axis", call.axis("axes", call.rank(0))}, {"largest", largest}});
  return {found[0], call.as_indices(found[1], "indices_type")};
}

}  // namespace

LayerKind layer_topk() {
  return {
      .name = "topk",
      .min_inputs = 1,
      .max_inputs = 2,
      .options = {{"op", std::string("MAX")}, {"k", std::int64_t{1}}, {"axes", std::int64_t{0}}, {"indices_type", std::string("INT32")}},
      .make = make};
}

}  // namespace tenfold::layers
