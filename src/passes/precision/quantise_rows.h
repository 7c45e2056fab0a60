// Products of a plain model that quantise their rows as they run: what two rules share.
#pragma once

#include "ir/graph.h"

namespace tenfold::passes {

// Each product of f32 with a constant matrix becomes one of integers, whose weights lie within [-most, most]. True if anything changed.
bool quantise_rows(ir::Graph& graph, int most);

}  // namespace tenfold::passes
