// SequenceErase: a sequence without one of its elements.
#include "onnx_ops/ai_onnx/sequence_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_11(OnnxImport& call) {
  auto all = elements(call, 0);
  const auto at = all ? place(call, 1, static_cast<std::int64_t>(all->size()), -1) : std::nullopt;
  if (!at) return as_it_is(call);
  const std::string dtype(name(call.in(0)->dtype()));
  all->erase(all->begin() + static_cast<std::ptrdiff_t>(*at));
  return call.add("Sequence", *all, {{"dtype", dtype}});
}

}  // namespace

OnnxOp onnx_ai_onnx_sequence_erase() { return {.name = "SequenceErase", .forms = {{11, from_11}}}; }

}  // namespace tenfold::onnx_ops
