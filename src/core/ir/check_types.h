// Types as inferred: every value of a graph has the type that its node's inference gives it now.
#pragma once

#include "ir/graph.h"

namespace tenfold::ir {

// Throws Error(internal) naming the node and both types where a pass has left a stale one. Infers a copy of the graph once: for tests,
// and wherever TENFOLD_CHECK_TYPES is set.
void check_types(const Graph& graph);

// False for another kind, element type or rank, or another number where both know an extent. What the run decides may be written in two
// ways, and one of them may know more.
bool may_be_the_same(const ValueType& a, const ValueType& b);
// Throws Error(internal) naming `value` and its node where what has type `by` cannot take its place.
void check_same_type(const Value& value, const ValueType& by);

}  // namespace tenfold::ir
