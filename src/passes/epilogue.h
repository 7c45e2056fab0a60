// Growing epilogues: what fuse_epilogue and join_regions share.
#pragma once

#include "ir/graph.h"

namespace tenfold::passes {

// Anchors take the nodes behind them that only they are read by, one after the other; regions only where they narrow the result, or
// all of them.
bool grow_epilogues(ir::Graph& graph, bool any_region);

}  // namespace tenfold::passes
