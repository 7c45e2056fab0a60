// Strands: which steps of a recording may run beside each other.
#pragma once

#include "runtime/frame.h"

namespace tenfold::runtime {

// Which strand of a recording each step goes to, and the steps of other strands that it follows.
struct StrandPlan {
  struct Place {
    int strand = 0;
    std::vector<int> follows;
    bool followed = false;  // by a step of another strand
  };
  std::vector<Place> steps;
  std::vector<int> joined_at_end;  // steps of other strands that strand 0 has not followed before
  bool several = false;
};
StrandPlan plan_strands(const Frame& frame, int strands);

}  // namespace tenfold::runtime
