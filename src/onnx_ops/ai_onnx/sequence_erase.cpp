// SequenceErase: a sequence without one of its elements.
#include "onnx_ops/ai_onnx/sequence_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_11(OnnxImport& call) {
  std::vector<Value*> all = elements(call, 0);
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(place(call, 1, static_cast<std::int64_t>(all.size()), -1)));
  return call.add("Sequence", all, {});
}

}  // namespace

OnnxOp onnx_ai_onnx_sequence_erase() { return {.name = "SequenceErase", .forms = {{11, from_11}}}; }

}  // namespace tenfold::onnx_ops
