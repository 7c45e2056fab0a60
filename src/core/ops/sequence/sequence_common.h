// What operators on sequences share: the types of elements, places in a sequence, and parts of tensors.
#pragma once

#include "ir/op_def.h"

namespace tenfold::ops {

// The type of operand i, which has to be a sequence.
const ir::ValueType& sequence_type(const ir::InferCall& call, int i);
// What one element of it is: an extent that inputs do not decide may differ from one element to the next, so it is a new symbol.
ir::ValueType one_element(ir::InferCall& call, const ir::ValueType& holder, const std::string& stem);
// A sequence of what is in both; operand i is called `stem` in names of symbols.
ir::ValueType with_element(ir::InferCall& call, const ir::ValueType& sequence, const ir::ValueType& element);

// Operand i as a place among `size`, from behind if it is negative; `otherwise` where it is left out. Throws invalid_argument outside.
std::size_t place_in(const ir::ValueCall& call, int i, std::size_t size, std::size_t otherwise);
// `count` slices of a tensor along an axis, from number `first` on.
Tensor slices(const Tensor& whole, std::size_t axis, std::int64_t first, std::int64_t count);
// Tensors of one type joined along an axis, in which alone their extents may differ. Throws invalid_argument if others do.
Tensor joined(const ir::ValueCall& call, const std::vector<Tensor>& parts, std::size_t axis);
std::size_t axis_of(const ir::ValueCall& call, std::int64_t axis, std::size_t rank);

}  // namespace tenfold::ops
