// IShuffleLayer: transpose, reshape (to operand 1, if it is given), transpose.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  NetworkTensor y = call.in(0);
  if (!call.list("first_transpose").empty()) y = call.node("Transpose", {y}, {{"perm", call.list("first_transpose")}});
  if (call.has(1) || call.flag("has_reshape")) {
    const NetworkTensor dims = call.has(1) ? call.as_i64(call.in(1)) : call.integers(call.list("reshape_dims"));
    y = call.node("Reshape", {y, dims}, {{"allowzero", std::int64_t{!call.flag("zero_is_placeholder")}}});
  }
  if (!call.list("second_transpose").empty()) y = call.node("Transpose", {y}, {{"perm", call.list("second_transpose")}});
  return {y.index == call.in(0).index ? call.node("Identity", {y}) : y};
}

}  // namespace

LayerKind layer_shuffle() {
  return {.name = "shuffle",
          .min_inputs = 1,
          .max_inputs = 2,
          .options = {{"first_transpose", Shape{}},
                      {"reshape_dims", Shape{}},
                      {"has_reshape", std::int64_t{0}},
                      {"second_transpose", Shape{}},
                      {"zero_is_placeholder", std::int64_t{1}}},
          .make = make};
}

}  // namespace tenfold::layers
