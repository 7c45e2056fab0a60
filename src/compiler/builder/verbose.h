// What a build says at Severity::verbose: passes that changed the graph, candidates of each problem, and the memory of the plan.
#pragma once

#include <vector>

#include "base/log.h"
#include "passes/pass.h"
#include "plan/plan.h"
#include "tenfold/build.h"

namespace tenfold::builder {

// `options` that tell each pass that changed a graph, and how many nodes it left.
passes::RunOptions with_logged_passes(passes::RunOptions options, const BuildConfig& config);
// Problems from `first` on, each with its candidates, their times or why they have none, and which was chosen.
void log_problems(const std::vector<StepReport>& steps, std::size_t first, const BuildConfig& config);
void log_memory(const plan::Plan& plan, const BuildConfig& config);

}  // namespace tenfold::builder
