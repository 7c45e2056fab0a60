// SequenceInsert: a sequence with one more element.
#include "onnx_ops/ai_onnx/sequence_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_11(OnnxImport& call) {
  auto all = elements(call, 0);
  const auto size = static_cast<std::int64_t>(all ? all->size() : 0);
  const std::optional<std::int64_t> given = number(call, 2, size);
  call.given(1);
  if (!all || !given) return as_it_is(call);
  const std::int64_t before = *given < 0 ? *given + size : *given;
  check_shape(before >= 0 && before <= size, "place ", *given, " in a sequence of ", size);
  all->insert(all->begin() + before, call.given(1));
  return call.add("Sequence", *all, {});
}

}  // namespace

OnnxOp onnx_ai_onnx_sequence_insert() { return {.name = "SequenceInsert", .forms = {{11, from_11}}}; }

}  // namespace tenfold::onnx_ops
