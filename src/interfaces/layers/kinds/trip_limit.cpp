// ITripLimitLayer: how often a loop goes round (COUNT, an integer), or whether it goes round once more (WHILE, asked before each round).
// Both may be given.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  const bool is_while = call.choice("kind", {"COUNT", "WHILE"}) == 1;
  if (is_while != (call.dtype(0) == DType::boolean)) call.refuse("a COUNT is an integer, a WHILE is a BOOL");
  return {};
}

}  // namespace

LayerKind layer_trip_limit() {
  LayerKind kind = region_kind("trip_limit", RegionPart::control, 1, {{"kind", std::string("COUNT")}});
  kind.make = make;
  return kind;
}

}  // namespace tenfold::layers
