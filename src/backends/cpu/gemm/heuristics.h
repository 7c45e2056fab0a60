// What configurations are chosen by before any is timed.
#pragma once

#include <algorithm>

#include "backends/tactic.h"
#include "base/threads/cpu_count.h"

namespace tenfold::backends::cpu {

// A dim's value, or a likely one inside its bounds.
inline std::int64_t likely(const Problem& problem, ir::Dim dim, std::int64_t guess = 256) {
  if (dim.is_constant()) return dim.constant();
  const ir::Interval range = problem.bounds(dim);
  return std::clamp(guess, range.lower, std::max(range.lower, range.upper));
}

// Whether this process may use so many threads that blockings of a few parts leave some idle, or waiting for one that others disturb:
// only then are finer ones worth timing.
inline bool many_threads() {
  static const bool many = default_threads() > 2;
  return many;
}

}  // namespace tenfold::backends::cpu
