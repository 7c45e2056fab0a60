// The fastest plan whose outputs stay within BuildConfig::budget.
#pragma once

#include <functional>

#include "builder/budget/findings.h"
#include "builder/builder.h"

namespace tenfold::builder {

// A plan by another configuration of the same model, opened. It adds to the report and to the findings.
using MakePlan = std::function<Engine(const BuildConfig& config, BuildReport& report, Findings& findings)>;

// Throws invalid_argument where the budget is none: no data, a bound that is not above 0, an output that is not there.
// `report` becomes that of the plan that is taken, with BuildReport::budget.
Engine engine_within_budget(const ir::Graph& source, const BuildConfig& config, const backends::DeviceInfo& device, const MakePlan& make,
                            BuildReport& report);

}  // namespace tenfold::builder
