// SplitToSequence: parts of a tensor along an axis, of the extents given, of one extent (the last may be smaller), or of 1.
#include <algorithm>

#include "ops/sequence/sequence_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  Dims dims = call.dims(0);
  const int axis = call.axis(call.attributes().integer("axis"), call.rank(0));
  Dim& extent = dims[static_cast<std::size_t>(axis)];
  if (call.has(1)) extent = call.new_symbol("part", 0, extent);
  else if (call.attributes().integer("keepdims") != 0) extent = Dim(1);
  else dims.erase(dims.begin() + axis);
  call.out(0, sequence_of({.tensor = {call.dtype(0), dims}}));
}

constexpr std::int64_t kMaxParts = std::int64_t{1} << 24;

Ints extents_of_parts(const ValueCall& call, std::int64_t extent) {
  Ints parts;
  std::int64_t each = 1, sum = 0;
  if (call.has(1) && call.tensor(1).rank() == 1) {
    for (std::int64_t i = 0; i < call.tensor(1).size(); ++i) parts.push_back(call.tensor(1).as_int(i));
    for (std::int64_t part : parts) {
      call.check_shape(part >= 0 && part <= extent - sum, "an axis of ", extent, " elements has no room for parts of ",
                       tenfold::text(parts));
      sum += part;
    }
    call.check_shape(sum == extent, "parts of ", tenfold::text(parts), " do not fill an axis of ", extent, " elements");
    return parts;
  }
  if (call.has(1)) each = call.integer(1);
  call.check_shape(each > 0, "parts of ", each, " elements");
  // Without elements an axis may be longer than any memory.
  call.supported(extent / each < kMaxParts, extent / each, " parts");
  for (std::int64_t rest = extent; rest > 0; rest -= each) parts.push_back(std::min(each, rest));
  return parts;
}

void on_values(ValueCall& call) {
  const Tensor& whole = call.tensor(0);
  const std::size_t axis = ops::axis_of(call, call.attributes().integer("axis"), whole.shape().size());
  const bool squeezed = !call.has(1) && call.attributes().integer("keepdims") == 0;
  std::vector<RuntimeValue> parts;
  std::int64_t at = 0;
  for (std::int64_t count : extents_of_parts(call, whole.shape()[axis])) {
    Tensor part = ops::slices(whole, axis, at, count);
    at += count;
    Shape shape = part.shape();
    if (squeezed) shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    parts.push_back(squeezed ? part.reshaped(shape) : part);
  }
  call.give(0, RuntimeValue::sequence(std::move(parts)));
}

}  // namespace

OpDef op_split_to_sequence() {
  return {.name = "SplitToSequence",
          .min_inputs = 1,
          .max_inputs = 2,
          .types = "any, i32|i64 -> *",
          .attributes = {{"axis", 0}, {"keepdims", 1}},
          .infer = infer,
          .on_host = "a GPU has no sequences",
          .on_values = on_values};
}

}  // namespace tenfold::ir
