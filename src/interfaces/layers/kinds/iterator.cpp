// IIteratorLayer: in each round of a loop the next slice of x along `axis`, from the front or from the back.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  const std::int64_t axis = call.number("axis");
  if (axis < 0 || axis >= call.rank(0)) call.refuse("axis " + std::to_string(axis) + " is no dim of x");
  return {call.node("Gather", {call.in(0), call.integer(call.flag("reverse") ? -1 : 0)}, {{"axis", axis}})};
}

}  // namespace

LayerKind layer_iterator() {
  LayerKind kind = region_kind("iterator", RegionPart::entry, 1, {{"axis", std::int64_t{0}}, {"reverse", std::int64_t{0}}});
  kind.make = make;
  return kind;
}

}  // namespace tenfold::layers
