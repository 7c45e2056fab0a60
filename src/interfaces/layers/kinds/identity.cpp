// IIdentityLayer. to_type: empty, or the type of set_output_type().
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  const std::string& type = call.text("to_type");
  return {type.empty() ? call.node("Identity", {call.in(0)}) : call.cast(call.in(0), dtype_of(call, type))};
}

}  // namespace

LayerKind layer_identity() {
  return {.name = "identity", .min_inputs = 1, .max_inputs = 1, .options = {{"to_type", std::string()}}, .make = make};
}

}  // namespace tenfold::layers
