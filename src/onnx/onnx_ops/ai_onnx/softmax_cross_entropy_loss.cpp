// SoftmaxCrossEntropyLoss. Operands: scores [n, classes, ...], labels [n, ...], weights [classes]. Results: loss, log-probabilities.
#include "onnx_ops/ai_onnx/loss_common.h"
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_12(OnnxImport& call) {
  Value* log_probabilities = one(call, "LogSoftmax", {call.given(0)}, {{"axis", 1}});
  return {negative_log_likelihood(call, log_probabilities, call.given(1), call.in(2)), log_probabilities};
}

}  // namespace

OnnxOp onnx_ai_onnx_softmax_cross_entropy_loss() { return {.name = "SoftmaxCrossEntropyLoss", .forms = {{12, from_12}}}; }

}  // namespace tenfold::onnx_ops
