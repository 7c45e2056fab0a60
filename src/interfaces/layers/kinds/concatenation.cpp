// IConcatenationLayer. axis -1: TensorRT'\''s choice, the third dim from the end, or the first.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  const std::int64_t axis = call.number("axis");
  return {call.keep(call.net.concatenation(call.all(), axis >= 0 ? axis : std::max(0, call.rank(0) - 3)))};
}

}  // namespace

LayerKind layer_concatenation() {
  return {.name = "concatenation", .min_inputs = 1, .max_inputs = -1, .options = {{"axis", std::int64_t{-1}}}, .make = make};
}

}  // namespace tenfold::layers
