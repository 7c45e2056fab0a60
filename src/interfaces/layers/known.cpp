// Constants among a layer's operands.
#include "layers/known.h"

namespace tenfold::layers {

std::optional<Tensor> known_value(const LayerCall& call, int operand) {
  NetworkTensor at = call.in(operand);
  if (const NetworkNodeRef node = call.net.producer(at); node.defined()) {
    const NetworkNodeInfo info = call.net.node(node);
    if (info.op != "Identity") return std::nullopt;
    at = info.inputs[0];
  }
  return call.net.constant_value(at);
}

}  // namespace tenfold::layers
