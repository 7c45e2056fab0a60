// What the page needs to know of a model or plan: it is built or loaded, and run for a short while.
#pragma once

#include <map>

#include "engines/exec_options.h"
#include "measure/measure.h"
#include "report/plan_data.h"

namespace tenfold::cli {

struct GatherOptions {
  ExecOptions exec;
  MeasureOptions run{.iterations = 10, .warmup_ms = 200, .duration_s = 1};
  bool skip_inference = false;
  int profile = 0;
};

// Throws Error where there is no plan to show. Whatever else fails is missing on the page, which says why.
PlanFacts gather(const std::string& path, const GatherOptions& options);

}  // namespace tenfold::cli
