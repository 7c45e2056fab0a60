// IFullyConnectedLayer of 8.x: the last three dims of x are one vector, the result has [.., outputs, 1, 1].
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  const int rank = call.rank(0);
  const std::int64_t outputs = call.number("num_output_channels");
  if (rank < 3) call.refuse("the input needs three dims and more, it has " + std::to_string(rank));
  if (outputs < 1 || !call.has_tensor("kernel") || call.tensor("kernel").size() % outputs != 0)
    call.refuse("the kernel does not divide into num_output_channels = " + std::to_string(outputs) + " rows");
  Shape shape(static_cast<std::size_t>(rank - 3), 0);
  shape.push_back(-1);
  const NetworkTensor flat = call.node("Reshape", {call.in(0), call.integers(shape)});
  NetworkTensor y =
      call.keep(call.net.matrix_multiply(flat, call.weights("kernel", {outputs, call.tensor("kernel").size() / outputs}), false, true));
  if (call.has_tensor("bias")) y = call.node("Add", {y, call.weights("bias", {outputs})});
  return {call.node("Unsqueeze", {y, call.integers({-2, -1})})};
}

}  // namespace

LayerKind layer_fully_connected() {
  return {.name = "fully_connected",
          .min_inputs = 1,
          .max_inputs = 1,
          .options = {{"num_output_channels", std::int64_t{0}}, {"kernel", Tensor()}, {"bias", Tensor()}},
          .make = make};
}

}  // namespace tenfold::layers
