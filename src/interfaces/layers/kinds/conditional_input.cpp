// IIfConditionalInputLayer: a value that the sides of a branch read. What is computed from such values runs on the side that is taken.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) { return {call.node("Identity", {call.in(0)})}; }

}  // namespace

LayerKind layer_conditional_input() {
  LayerKind kind = region_kind("conditional_input", RegionPart::entry, 1, {});
  kind.make = make;
  return kind;
}

}  // namespace tenfold::layers
