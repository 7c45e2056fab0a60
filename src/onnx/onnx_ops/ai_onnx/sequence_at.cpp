// SequenceAt: an element of a sequence.
#include "onnx_ops/ai_onnx/sequence_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_11(OnnxImport& call) {
  call.given(1);
  const auto all = elements(call, 0);
  const auto at = all ? place(call, 1, static_cast<std::int64_t>(all->size()), 0) : std::nullopt;
  if (!at) return as_it_is(call);
  return {(*all)[*at]};
}

}  // namespace

OnnxOp onnx_ai_onnx_sequence_at() { return {.name = "SequenceAt", .forms = {{11, from_11}}}; }

}  // namespace tenfold::onnx_ops
