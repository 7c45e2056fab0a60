// Why a step computes in the type that it has, in one sentence.
#pragma once

#include "report/plan_data.h"

namespace tenfold::cli {

// `step_json`: with "compute", "storage" and "numerics". Empty: it only moves elements.
std::string precision_reason(const PlanFacts& facts, const PlanStep& step, const Json& step_json);

}  // namespace tenfold::cli
