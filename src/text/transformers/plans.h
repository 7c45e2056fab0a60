// What encoders and decoders do alike with engines: finding plans in the cache, and errors of runs.
#pragma once

#include <optional>

#include "tenfold/build.h"
#include "tenfold/engine.h"
#include "tenfold/plan_cache.h"

namespace tenfold::transformers {

LoadOptions load_options(const BuildConfig& config);   // of a plan that this configuration built
// The cache, or nothing where none is asked for or its folder cannot be made; the log tells of that.
std::optional<PlanCache> open_cache(const std::optional<PlanCacheOptions>& options, const LogCallback& log);
// Throws what a status that is not ok means; `what` is what was running: "the encoder".
void need(const ExecutionContext& context, Status status, const char* what);

}  // namespace tenfold::transformers
