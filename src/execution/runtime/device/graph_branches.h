// Branches: which steps of a graph may run beside each other.
#pragma once

#include "runtime/frame.h"

namespace tenfold::runtime {

// Which branch of a graph each step goes to, and the steps of other branches that it follows.
struct BranchPlan {
  struct Place {
    int branch = 0;
    std::vector<int> follows;
    bool followed = false;  // by a step of another branch
  };
  std::vector<Place> steps;
  std::vector<int> joined_at_end;  // steps of other branches that branch 0 has not followed before
  bool several = false;
};
BranchPlan plan_branches(const Frame& frame, int branches);

}  // namespace tenfold::runtime
