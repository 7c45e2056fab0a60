// IRaggedSoftMaxLayer: softmax along the last dim over the first bounds[...] elements of each row; the others are zero.
#include <limits>

#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  const NetworkTensor x = call.in(0);
  if (call.rank(0) < 2) call.refuse("rows of sequences were expected, the input is " + call.net.describe(x));
  const NetworkTensor inside = call.node("Less", {call.places(x, -1), call.as_i64(call.in(1))});
  const NetworkTensor none = call.scalar(call.dtype(0), -std::numeric_limits<float>::infinity());
  const NetworkTensor rows = call.node("Softmax", {call.node("Where", {inside, x, none})}, {{"axis", std::int64_t{-1}}});
  return {call.node("Where", {inside, rows, call.scalar(call.dtype(0), 0)})};   // of an empty row, too, whose softmax is no number
}

}  // namespace

LayerKind layer_ragged_softmax() { return {.name = "ragged_softmax", .min_inputs = 2, .max_inputs = 2, .options = {}, .make = make}; }

}  // namespace tenfold::layers
