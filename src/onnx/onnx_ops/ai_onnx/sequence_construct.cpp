// SequenceConstruct: a sequence of the operands.
#include "onnx_ops/ai_onnx/sequence_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_11(OnnxImport& call) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) call.given(static_cast<int>(i));
  return call.add("Sequence", call.inputs, {});
}

}  // namespace

OnnxOp onnx_ai_onnx_sequence_construct() { return {.name = "SequenceConstruct", .forms = {{11, from_11}}}; }

}  // namespace tenfold::onnx_ops
