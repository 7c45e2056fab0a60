// Two plans of one model side by side: which steps do the same work, what differs, and what that costs.
#pragma once

#include "report/plan_data.h"

namespace tenfold::cli {

// Of two results of plan_json(). Steps belong together that share a node of the model, directly or through others.
Json changes_json(const Json& a, const Json& b);

}  // namespace tenfold::cli
