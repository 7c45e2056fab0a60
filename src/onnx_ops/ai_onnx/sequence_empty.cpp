// SequenceEmpty: a sequence without elements.
#include "onnx_ops/ai_onnx/sequence_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_11(OnnxImport& call) { return call.add("Sequence", {}, {}); }

}  // namespace

OnnxOp onnx_ai_onnx_sequence_empty() { return {.name = "SequenceEmpty", .forms = {{11, from_11}}}; }

}  // namespace tenfold::onnx_ops
