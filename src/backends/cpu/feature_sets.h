// For tests: the sets of CPU features that kernels are dispatched on, as far as this machine has them, the narrowest first.
#pragma once

#include <vector>

#include "backends/cpu/cpu_info.h"

namespace tenfold::backends::testing {

inline std::vector<std::uint32_t> feature_sets() {
  const std::uint32_t has = cpu::this_cpu().features, wide = kAvx2 | kAvx512, amx = wide | kVnni | kAvx512Bf16 | kAmxInt8 | kAmxBf16;
  std::vector<std::uint32_t> sets;
  for (const std::uint32_t set : {std::uint32_t{kAvx2}, wide, wide | kVnni, wide | kVnni | kAvx512Bf16, amx})
    if ((has & set) == set) sets.push_back(set);
  if (sets.empty() || sets.back() != has) sets.push_back(has);  // a mix of its own
  return sets;
}

}  // namespace tenfold::backends::testing
