// Nodes that are there for what they refuse, whoever uses their results.
#pragma once

#include <algorithm>

#include "ir/graph.h"
#include "ir/op_def.h"

namespace tenfold::ir {

// Assert looks at an operand. Fail, which has none, stands for a branch that is not taken, and goes with it.
// A node with bodies judges where one in them does.
inline bool judges(const Node& node) {
  if (!node.def->returns && !node.inputs.empty()) return true;
  return std::any_of(node.graphs.begin(), node.graphs.end(), [](const auto& body) {
    return std::any_of(body->nodes().begin(), body->nodes().end(), [](const auto& inner) { return judges(*inner); });
  });
}

}  // namespace tenfold::ir
