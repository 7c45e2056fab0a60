// Plans of the operators' own cases, in which each operator stands as a step of its own.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace tenfold::tests {

struct CasePlan {
  std::string name;   // "TopK f32[3,8] i64[1]{3}"
  std::string op;
  plan::Plan plan;
};
// Of the first cases of each operator, as many as `max`, for the CPU, at level 0 and without the passes that may be left out. `left_out`
// gets the names of operators of which no case is a step of its plan.
std::vector<CasePlan> case_plans(int max, std::vector<std::string>& left_out);

}  // namespace tenfold::tests
