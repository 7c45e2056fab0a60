// Engines of one graph with different kernels, run in turns: what the rivals of rivals.h are timed in.
#pragma once

#include <memory>
#include <vector>

#include "backends/backend.h"
#include "builder/in_model/rivals.h"
#include "plan/plan.h"

namespace tenfold::builder {

// The references have to outlive what is returned. `base`: a plan without programs and constants, whose bindings are the graph's.
ModelRuns runs_in_turns(const ir::Graph& graph, const plan::Plan& base, const std::vector<plan::Range>& ranges, const BuildConfig& config,
                      const std::shared_ptr<backends::Backend>& backend);

}  // namespace tenfold::builder
