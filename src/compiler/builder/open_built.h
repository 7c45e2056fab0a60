// From a finished plan to the engine that a build returns.
#pragma once

#include <memory>

#include "backends/backend.h"
#include "plan/plan.h"
#include "tenfold/build.h"

namespace tenfold::builder {

// Opens the plan with the builder's own options, and keeps the code that opening it compiled.
Engine open_built(plan::Plan plan, const BuildConfig& config, std::shared_ptr<backends::Backend> backend);

}  // namespace tenfold::builder
