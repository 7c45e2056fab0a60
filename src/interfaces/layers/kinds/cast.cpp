// ICastLayer, and IIdentityLayer with a type of its own.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) { return {call.cast(call.in(0), dtype_of(call, call.text("to_type")))}; }

}  // namespace

LayerKind layer_cast() {
  return {.name = "cast", .min_inputs = 1, .max_inputs = 1, .options = {{"to_type", std::string("FLOAT")}}, .make = make};
}

}  // namespace tenfold::layers
