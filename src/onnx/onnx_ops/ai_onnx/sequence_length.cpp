// SequenceLength: the number of elements.
#include "onnx_ops/ai_onnx/sequence_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_11(OnnxImport& call) {
  const auto all = elements(call, 0);
  if (!all) return as_it_is(call);
  return {call.scalar(DType::i64, static_cast<double>(all->size()))};
}

}  // namespace

OnnxOp onnx_ai_onnx_sequence_length() { return {.name = "SequenceLength", .forms = {{11, from_11}}}; }

}  // namespace tenfold::onnx_ops
