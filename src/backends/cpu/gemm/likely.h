// Sizes for choosing configurations by.
#pragma once

#include <algorithm>

#include "backends/tactic.h"

namespace tenfold::backends::cpu {

// A dim's value, or a likely one inside its bounds.
inline std::int64_t likely(const Problem& problem, ir::Dim dim, std::int64_t guess = 256) {
  if (dim.is_constant()) return dim.constant();
  const ir::Interval range = problem.bounds(dim);
  return std::clamp(guess, range.lower, std::max(range.lower, range.upper));
}

}  // namespace tenfold::backends::cpu
