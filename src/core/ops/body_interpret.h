// Runs a Body on dense tensors, instruction by instruction: the truth about every pointwise computation and every Region.
#pragma once

#include <span>

#include "ir/op_def.h"

namespace tenfold::ops {

// Inputs and outputs are broadcast as numpy does against the space that all of them span. A value that does not vary along the
// reduced dims (see narrow_values) may go to an output whose reduced dims are 1.
// Floats are rounded to the value's type after every instruction, sums of a reduction once at the end; integers wrap.
void interpret_body(const ir::Body& body, std::span<const ir::TensorRef> in, std::span<const ir::TensorRef> out);

// Which values of a body are the same for all elements of a row: constants, reductions, inputs marked so, and what is computed
// from these alone. The only definition of which outputs of a Region have extent 1 along the reduced dims.
std::vector<bool> narrow_values(const ir::Body& body, const std::vector<bool>& narrow_inputs);

}  // namespace tenfold::ops
