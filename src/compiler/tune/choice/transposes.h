// Transposes that move nothing: what lies channels-last is, read in another order of the dims, plain as it lies.
#pragma once

#include "backends/tactic.h"
#include "ir/op_def.h"

namespace tenfold::tune {

ir::Ints permutation(const ir::Node& transpose);
// Is `node` a Transpose whose elements all stay where they are if its operand and its result are stored in these layouts?
bool moves_nothing(const ir::Node& node, const backends::Formats& formats);

}  // namespace tenfold::tune
