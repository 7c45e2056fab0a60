// SplitToSequence: parts of a tensor, as a sequence.
#include <algorithm>

#include "onnx_ops/ai_onnx/sequence_common.h"

namespace tenfold::onnx_ops {
namespace {

// Where more parts come out, the sequence is one of the graph: a node for each would be too many.
constexpr std::int64_t kMaxParts = 4096;

// Extents of the parts: as given, or equal ones (the last may be smaller), or 1 each; nothing if data decide them.
std::optional<Ints> extents_of_parts(OnnxImport& call, Dim extent) {
  const Value* split = call.in(1);
  if (split && split->type.ranked && split->rank() == 1) {
    if (!split->contents || !is_constant(*split->contents)) return std::nullopt;
    return constants(*split->contents);
  }
  const std::optional<std::int64_t> each = number(call, 1, 1);
  check_shape(!each || *each > 0, "an axis of ", extent.text(), " is split into parts of ", each.value_or(0));
  if (!each || !extent.is_constant() || extent.constant() / *each >= kMaxParts) return std::nullopt;
  Ints parts;
  for (std::int64_t rest = extent.constant(); rest > 0; rest -= *each) parts.push_back(std::min(*each, rest));
  return parts;
}

std::vector<Value*> from_11(OnnxImport& call) {
  supported(call.given(0)->type.ranked, "the rank of what is to be split is not known");
  const std::int64_t given = call.attributes.integer("axis", 0), axis = given < 0 ? given + call.in(0)->rank() : given;
  check_shape(axis >= 0 && axis < call.in(0)->rank(), "axis ", given, " of a tensor of rank ", call.in(0)->rank());
  const auto extents = extents_of_parts(call, call.in(0)->dims()[static_cast<std::size_t>(axis)]);
  if (!extents) return as_it_is(call);
  if (extents->empty()) return call.add("Sequence", {}, {{"dtype", std::string(name(call.in(0)->dtype()))}});
  std::vector<Value*> parts = call.add("Split", {call.in(0), call.ints(*extents)}, {{"axis", axis}}, static_cast<int>(extents->size()));
  if (!call.in(1) && call.attributes.integer("keepdims", 1) == 0)
    for (Value*& part : parts) part = call.add("Squeeze", {part, call.ints({axis})}, {})[0];
  return call.add("Sequence", parts, {});
}

}  // namespace

OnnxOp onnx_ai_onnx_split_to_sequence() { return {.name = "SplitToSequence", .forms = {{11, from_11}}}; }

}  // namespace tenfold::onnx_ops
