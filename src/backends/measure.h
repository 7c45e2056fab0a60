// Timing a launch: warmed up, repeated within a budget, trimmed median.
#pragma once

#include <functional>

namespace tenfold::backends {

struct MeasureBudget {
  double least_ms = 1;      // stop when this much time is spent and `least_runs` are done ...
  int least_runs = 5, most_runs = 200;
  double give_up_ns = 0;    // ... or at once, when the first warm run takes longer than this (0: never)
};
// Nanoseconds of one call of `launch`: the median of the faster three quarters.
double measure_host(const std::function<void()>& launch, const MeasureBudget& budget);

}  // namespace tenfold::backends
