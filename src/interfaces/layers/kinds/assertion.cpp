// IAssertionLayer: ends a run with the message where a boolean of the condition is false. What is known when the layer is made is settled
// there. It has no results.
#include <algorithm>

#include "layers/known.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  const NetworkTensor condition = call.in(0);
  if (call.dtype(0) != DType::boolean) call.refuse("the condition is " + call.net.describe(condition) + ", booleans were expected");
  if (const std::optional<Tensor> known = known_value(call, 0)) {
    const auto* first = static_cast<const std::uint8_t*>(known->raw());
    if (std::find(first, first + known->size(), 0) != first + known->size())
      call.refuse("the assertion does not hold: " + call.text("message"));
    return {};
  }
  call.nodes("Assert", {condition}, 1, {{"message", call.text("message")}}, "ai.tenfold");
  return {};
}

}  // namespace

LayerKind layer_assertion() { return {.name = "assertion", .options = {{"message", std::string()}}, .make = make}; }

}  // namespace tenfold::layers
