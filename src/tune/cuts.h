// Cutting fused nodes: an epilogue stays on its anchor only where that is not slower than a region of its own.
#pragma once

#include "tune/candidates.h"

namespace tenfold::tune {

// Splits `node` into its anchor and a Region if that is faster, or if no tactic runs the two together. True if it was cut.
bool cut_if_better(ir::Graph& graph, ir::Node& node, Candidates& candidates);

}  // namespace tenfold::tune
