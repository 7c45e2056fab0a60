// NegativeLogLikelihoodLoss. Operands: log-probabilities [n, classes, ...], labels [n, ...], weights [classes].
#include "onnx_ops/ai_onnx/loss_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_12(OnnxImport& call) { return {negative_log_likelihood(call, call.given(0), call.given(1), call.in(2))}; }

}  // namespace

OnnxOp onnx_ai_onnx_negative_log_likelihood_loss() { return {.name = "NegativeLogLikelihoodLoss", .forms = {{12, from_12}}}; }

}  // namespace tenfold::onnx_ops
