// IConditionLayer: which of the two sides of a branch runs.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  if (call.dtype(0) != DType::boolean) call.refuse("a condition is a BOOL");
  return {};
}

}  // namespace

LayerKind layer_condition() {
  LayerKind kind = region_kind("condition", RegionPart::control, 1, {});
  kind.make = make;
  return kind;
}

}  // namespace tenfold::layers
