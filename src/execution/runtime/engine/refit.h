// Refit: a plan with other values for named weights.
#pragma once

#include "runtime/engine/opened.h"

namespace tenfold::runtime {

using NamedWeights = std::vector<std::pair<std::string, Tensor>>;

// A copy of the plan that shares the bytes of every constant that stays as it was.
plan::Plan refit(const EngineState& engine, const NamedWeights& weights);

}  // namespace tenfold::runtime
