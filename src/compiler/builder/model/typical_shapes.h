// The shapes that the tuner times at.
#pragma once

#include <vector>

#include "ir/op_def.h"
#include "plan/plan.h"
#include "tenfold/build.h"

namespace tenfold::builder {

// A value for each symbol of the graph: the profile's usual one, and a guess for the sizes that only a run knows.
ir::SymbolValues typical_shapes(const ir::Graph& graph, const std::vector<plan::Range>& ranges, const BuildConfig& config);

}  // namespace tenfold::builder
