// Timing a launch: warmed up, repeated within a budget, trimmed median.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace tenfold::backends {

inline constexpr double kFailed = 1e18;   // instead of a time

struct MeasureBudget {
  double min_ms = 1;      // stop when this much time is spent and `min_runs` are done ...
  int min_runs = 5, max_runs = 200;
  double give_up_ns = 0;    // ... or at once, when the first two runs take longer than this (0: never)
  std::vector<std::span<const std::byte>> cold = {};   // to be out of the caches before every launch
};
// Nanoseconds of one call of `launch`: the median of the faster three quarters. `prepare`, if given, comes before each, not timed.
double measure_host(const std::function<void()>& launch, const MeasureBudget& budget, const std::function<void()>& prepare = {});

}  // namespace tenfold::backends
