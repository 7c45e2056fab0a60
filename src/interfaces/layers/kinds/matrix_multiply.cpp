// IMatrixMultiplyLayer. VECTOR: the last dim is a vector, and the result has no dim in its place.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  const auto words = {"NONE", "TRANSPOSE", "VECTOR"};
  const std::size_t op0 = call.choice("op0", words), op1 = call.choice("op1", words);
  NetworkTensor a = call.in(0), b = call.in(1);
  if (op0 == 2) a = call.node("Unsqueeze", {a, call.integers({-2})});
  if (op1 == 2) b = call.node("Unsqueeze", {b, call.integers({-1})});
  NetworkTensor y = call.keep(call.net.matrix_multiply(a, b, op0 == 1, op1 == 1));
  if (op1 == 2) y = call.node("Squeeze", {y, call.integers({-1})});
  if (op0 == 2) y = call.node("Squeeze", {y, call.integers({op1 == 2 ? -1 : -2})});
  return {y};
}

}  // namespace

LayerKind layer_matrix_multiply() {
  return {.name = "matrix_multiply",
          .min_inputs = 2,
          .max_inputs = 2,
          .options = {{"op0", std::string("NONE")}, {"op1", std::string("NONE")}},
          .make = make};
}

}  // namespace tenfold::layers
