// IRecurrenceLayer: a value that goes round in a loop. Operands: the initial value, and what it is in the next round.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) { return {call.node("Identity", {call.in(0)})}; }

}  // namespace

LayerKind layer_recurrence() {
  LayerKind kind = region_kind("recurrence", RegionPart::entry, 2, {});
  kind.make = make;
  return kind;
}

}  // namespace tenfold::layers
