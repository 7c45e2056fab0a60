// How many tensors an optimizer updates.
#include "onnx_ops/training/optimizer_common.h"

namespace tenfold::onnx_ops {

Optimizer::Optimizer(OnnxImport& call, std::size_t states) : call_(call) {
  const std::size_t groups = 2 + states, given = call.inputs.size();
  validate(given > 2 && (given - 2) % groups == 0, call.op(), " has ", given, " inputs, 2 and ", groups, " for each tensor expected");
  for (std::size_t i = 0; i < given; ++i) call.given(static_cast<int>(i));
  tensors_ = (given - 2) / groups;
  results_.resize((1 + states) * tensors_);
}

}  // namespace tenfold::onnx_ops
