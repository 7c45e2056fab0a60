// Lanes: which steps of a recording may run beside each other.
#pragma once

#include "runtime/frame.h"

namespace tenfold::runtime {

// Which lane of a recording each step goes to, and the steps of other lanes that it follows.
struct LanePlan {
  struct Place {
    int lane = 0;
    std::vector<int> follows;
    bool followed = false;  // by a step of another lane
  };
  std::vector<Place> steps;
  std::vector<int> joined_at_end;  // steps of other lanes that lane 0 has not followed before
  bool several = false;
};
LanePlan plan_lanes(const Frame& frame, int lanes);

}  // namespace tenfold::runtime
