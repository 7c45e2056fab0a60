// Types of elements, and the parts that sequences are made of and joined from.
#include "ops/sequence/sequence_common.h"

#include <algorithm>

#include "ops/control/control_common.h"
#include "ops/elements.h"
#include "ops/real_access.h"

namespace tenfold::ops {

using ir::Dim;
using ir::InferCall;
using ir::ValueType;

const ValueType& sequence_type(const InferCall& call, int i) {
  const ValueType& type = call.type(i);
  call.validate(type.kind == ValueType::Kind::sequence, "operand ", i, " of ", call.node().op(), " is ", ir::text(type),
             ", a sequence expected");
  return type;
}

ValueType one_element(InferCall& call, const ValueType& holder, const std::string& stem) {
  ValueType type = holder.element();
  if (!type.is_tensor()) return type;
  type.unfilled = false;
  const auto from_inputs = [&](const std::string& name) {
    return std::any_of(call.graph().symbols.begin(), call.graph().symbols.end(),
                       [&](const ir::Symbol& s) { return s.name == name && s.origin == ir::Origin::input_dim; });
  };
  const ir::SymbolBounds box = call.graph().box();
  int number = 0;
  for (Dim& d : type.tensor.dims) {
    const std::vector<std::string> symbols = d.symbols();
    const std::string name = cat(stem, "_", number++);
    if (std::all_of(symbols.begin(), symbols.end(), from_inputs)) continue;
    const ir::Interval range = d.bounds(box);
    d = call.new_symbol(name, std::max<std::int64_t>(range.lower, 0), std::clamp<std::int64_t>(range.upper, 0, ir::kUnbounded));
  }
  return type;
}

ValueType with_element(InferCall& call, const ValueType& sequence, const ValueType& element) {
  return ir::sequence_of(join(call, sequence.element(), element, "any"));
}

std::size_t place_in(const ir::ValueCall& call, int i, std::size_t size, std::size_t otherwise) {
  if (!call.has(i)) return otherwise;
  const auto extent = static_cast<std::int64_t>(size);
  const std::int64_t given = call.integer(i), at = given < 0 ? given + extent : given;
  call.check_index(at >= 0 && at < extent, "place ", given, " in operand ", i, " is outside [", -extent, ", ", extent, ")");
  return static_cast<std::size_t>(at);
}

Tensor slices(const Tensor& whole, std::size_t axis, std::int64_t first, std::int64_t count) {
  Shape shape = whole.shape();
  const std::int64_t extent = shape[axis];
  shape[axis] = count;
  Tensor part(whole.dtype(), shape);
  if (part.size() == 0) return part;
  const AxisView sides(shape, static_cast<std::int64_t>(axis));
  for (std::int64_t o = 0; o < sides.outer; ++o)
    move_elements(whole.dtype(), whole.raw(), (o * extent + first) * sides.inner, part.mutable_raw(), o * count * sides.inner,
                  count * sides.inner);
  return part;
}

Tensor joined(const ir::ValueCall& call, const std::vector<Tensor>& parts, std::size_t axis) {
  Shape shape = parts.at(0).shape();
  shape[axis] = 0;
  for (const Tensor& part : parts) {
    Shape expected = shape;
    if (part.rank() == parts[0].rank()) expected[axis] = part.shape()[axis];
    call.check_shape(part.dtype() == parts[0].dtype() && part.shape() == expected, "it joins tensors of shape ", text(parts[0].shape()),
                     " and ", text(part.shape()), " along axis ", axis);
    shape[axis] += part.shape()[axis];
  }
  Tensor whole(parts[0].dtype(), shape);
  if (whole.size() == 0) return whole;
  const AxisView sides(shape, static_cast<std::int64_t>(axis));
  std::int64_t at = 0;
  for (const Tensor& part : parts) {
    const std::int64_t row = part.shape()[axis] * sides.inner;
    for (std::int64_t o = 0; o < sides.outer; ++o)
      move_elements(part.dtype(), part.raw(), o * row, whole.mutable_raw(), o * shape[axis] * sides.inner + at, row);
    at += row;
  }
  return whole;
}

std::size_t axis_of(const ir::ValueCall& call, std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  call.check_shape(axis >= -count && axis < count, "axis ", axis, " of a tensor of rank ", rank);
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

}  // namespace tenfold::ops
