// ConcatFromSequence: the elements joined along an axis, or along a new one.
#include "onnx_ops/ai_onnx/sequence_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_11(OnnxImport& call) {
  const auto known = elements(call, 0);
  if (!known) return as_it_is(call);
  std::vector<Value*> parts = *known;
  validate(!parts.empty(), "an empty sequence cannot be concatenated");
  const std::int64_t axis = call.attributes.integer("axis");
  if (call.attributes.integer("new_axis", 0) != 0)
    for (Value*& part : parts) part = call.add("Unsqueeze", {part, call.ints({axis})}, {})[0];
  return call.add("Concat", parts, {{"axis", axis}});
}

}  // namespace

OnnxOp onnx_ai_onnx_concat_from_sequence() { return {.name = "ConcatFromSequence", .forms = {{11, from_11}}}; }

}  // namespace tenfold::onnx_ops
