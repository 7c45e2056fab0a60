// TorchEmbedding: rows of a table. What it says of gradients means nothing outside of training.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kDefinition = R"((weight, indices, padding_idx?, scale_grad_by_freq?)
  y = Gather(weight, indices)
  return y)";

}  // namespace

OnnxOp onnx_microsoft_torch_embedding() { return {.name = "TorchEmbedding", .forms = {{1, kDefinition}}}; }

}  // namespace tenfold::onnx_ops
