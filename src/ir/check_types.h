// Types as inferred: every value of a graph has the type that its node's inference gives it now.
#pragma once

#include "ir/graph.h"

namespace tenfold::ir {

// Throws Error(internal) naming the node and both types where a pass has left a stale one. Infers a copy of the graph once: for tests,
// and wherever TENFOLD_CHECK_TYPES is set.
void check_types(const Graph& graph);

}  // namespace tenfold::ir
