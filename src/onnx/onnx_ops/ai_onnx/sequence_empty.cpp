// SequenceEmpty: a sequence without elements.
#include "onnx_ops/ai_onnx/sequence_common.h"
#include "ops/onnx_dtype.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_11(OnnxImport& call) {
  const DType dtype = ops::dtype_from_onnx(call.attributes.integer("dtype", 1));   // 1: float
  return call.add("Sequence", {}, {{"dtype", std::string(name(dtype))}});
}

}  // namespace

OnnxOp onnx_ai_onnx_sequence_empty() { return {.name = "SequenceEmpty", .forms = {{11, from_11}}}; }

}  // namespace tenfold::onnx_ops
