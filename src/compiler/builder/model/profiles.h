// Profiles: from the shapes a user gives to ranges of symbols, and a graph specialized to what is fixed.
#pragma once

#include "ir/op_def.h"
#include "plan/plan.h"
#include "tenfold/build.h"

namespace tenfold::builder {

// The profiles of a configuration: one of no shapes if it has none.
std::vector<OptimizationProfile> profiles_of(const BuildConfig& config);
// Whose shapes a calibration's samples have. Throws invalid_argument for a profile that is none.
OptimizationProfile profile_of_samples(const BuildConfig& config);
// Ranges of the input symbols of `graph`. Throws invalid_argument naming the input where a profile does not fit the model.
std::vector<plan::Range> symbol_ranges(const ir::Graph& graph, const OptimizationProfile& profile, const LogCallback& log);

// The dynamic dimensions that symbol_ranges() fixes to 1, since the profile does not give them, in words; empty: there are none.
std::string fixed_by_default(const ir::Graph& graph, const OptimizationProfile& profile);

// Replaces symbols whose range is one value by that value, narrows the others' bounds, and infers every type again.
void specialize(ir::Graph& graph, const std::vector<plan::Range>& ranges);

}  // namespace tenfold::builder
