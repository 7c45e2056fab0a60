// IPaddingLayer: zeros around the last two dims; what is negative is cut off.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  const Shape &before = call.list("pre_padding_nd"), &after = call.list("post_padding_nd");
  const auto rank = static_cast<std::size_t>(call.rank(0));
  if (before.size() != 2 || after.size() != 2 || rank < 2) call.refuse("two numbers of pre-padding and two of post-padding are needed, and "
          "two dims");
  Shape pads(2 * rank, 0);
  for (std::size_t d = 0; d < 2; ++d) pads[rank - 2 + d] = before[d], pads[2 * rank - 2 + d] = after[d];
  return {call.node("Pad", {call.in(0), call.integers(pads)})};
}

}  // namespace

LayerKind layer_padding() {
  return {.name = "padding",
          .min_inputs = 1,
          .max_inputs = 1,
          .options = {{"pre_padding_nd", Shape{}}, {"post_padding_nd", Shape{}}},
          .make = make};
}

}  // namespace tenfold::layers
