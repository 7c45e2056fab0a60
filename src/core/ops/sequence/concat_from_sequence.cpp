// ConcatFromSequence: the elements joined along an axis, or along a new one.
#include "ops/sequence/sequence_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  ValueType type = ops::one_element(call, ops::sequence_type(call, 0), "element");
  call.validate(type.is_tensor(), "ConcatFromSequence of ", text(call.type(0)), ", a sequence of tensors expected");
  if (type.ranked) {
    Dims& dims = type.tensor.dims;
    const bool fresh = call.attributes().integer("new_axis") != 0;
    const int axis = call.axis(call.attributes().integer("axis"), static_cast<int>(dims.size()) + (fresh ? 1 : 0));
    const Dim sum = call.new_symbol("sum", 0, kUnbounded);
    if (fresh) dims.insert(dims.begin() + axis, sum);
    else dims[static_cast<std::size_t>(axis)] = sum;
  }
  call.out(0, type);
}

void on_values(ValueCall& call) {
  const bool fresh = call.attributes().integer("new_axis") != 0;
  std::vector<Tensor> parts;
  for (const RuntimeValue& element : call.elements(0)) parts.push_back(element.tensor());
  call.check_shape(!parts.empty(), "it joins an empty sequence");
  const std::size_t axis = ops::axis_of(call, call.attributes().integer("axis"), parts[0].shape().size() + (fresh ? 1 : 0));
  for (Tensor& part : parts) {
    if (!fresh) break;
    Shape shape = part.shape();
    call.check_shape(axis <= shape.size(), "it joins tensors of rank ", parts[0].rank(), " and ", part.rank());
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    part = part.reshaped(shape);
  }
  call.give(0, ops::joined(call, parts, axis));
}

}  // namespace

OpDef op_concat_from_sequence() {
  return {.name = "ConcatFromSequence",
          .types = "* -> *",
          .attributes = {{"axis", 0}, {"new_axis", 0}},
          .infer = infer,
          .on_host = "a GPU has no sequences",
          .on_values = on_values};
}

}  // namespace tenfold::ir
