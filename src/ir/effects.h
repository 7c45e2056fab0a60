// Nodes that are there for what they refuse, whoever uses their results.
#pragma once

#include "ir/graph.h"
#include "ir/op_def.h"

namespace tenfold::ir {

// Assert looks at an operand. Fail, which has none, stands for a branch that is not taken, and goes with it.
inline bool judges(const Node& node) { return !node.def->returns && !node.inputs.empty(); }

}  // namespace tenfold::ir
