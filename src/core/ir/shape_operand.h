// Shapes that a run is given as numbers.
#pragma once

#include "ir/graph.h"

namespace tenfold::ir {

// Whether only a run can say if the node's shape operand fits: an Expand or Reshape whose shape is neither constant nor followed by
// inference. Even where all extents of the result are known, the step stays, to refuse other numbers.
inline bool is_checked_by_run(const Node& n) {
  const Movement moves = n.def->traits.movement;
  const Value* shape = moves == Movement::expand || moves == Movement::reshape ? n.in(1) : nullptr;
  return shape && !shape->is_constant() && !shape->contents;
}

}  // namespace tenfold::ir
