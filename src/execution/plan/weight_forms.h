// What a plan's weights are stored as: bytes by form and profile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace tenfold::plan {

// A form is what the same kernels read: packed for them, or as the graph has it. Each constant is in one.
struct WeightForm {
  std::string kernels;                      // names of tactics, "matmul_amx_split"; empty: it is not packed
  std::int64_t bytes = 0;
  std::vector<std::int64_t> by_profile;     // of those bytes, what the profile's program reads
};

// Those that are not packed first, then by name.
std::vector<WeightForm> weight_forms(const Plan& plan);

}  // namespace tenfold::plan
