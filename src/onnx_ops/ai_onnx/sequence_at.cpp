// SequenceAt: an element of a sequence.
#include "onnx_ops/ai_onnx/sequence_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_11(OnnxImport& call) {
  const std::vector<Value*> all = elements(call, 0);
  call.need(1);
  return {all[place(call, 1, static_cast<std::int64_t>(all.size()), 0)]};
}

}  // namespace

OnnxOp onnx_ai_onnx_sequence_at() { return {.name = "SequenceAt", .forms = {{11, from_11}}}; }

}  // namespace tenfold::onnx_ops
