// Growing epilogues: what fuse_epilogue and those that join regions share.
#pragma once

#include "ir/graph.h"

namespace tenfold::passes {

// Anchors take the nodes behind them that only they are read by, one after the other; regions only where they narrow the result, or
// where `also` says so.
bool grow_epilogues(ir::Graph& graph, bool (*also)(const ir::Node& anchor, const ir::Node& region) = nullptr);

}  // namespace tenfold::passes
