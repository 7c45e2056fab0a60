// The stopwatch of the tuner for work that the host waits for.
#include "backends/measure.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace tenfold::backends {

double measure_host(const std::function<void()>& launch, const MeasureBudget& budget, const std::function<void()>& prepare) {
  using Clock = std::chrono::steady_clock;
  const auto once = [&] {
    if (prepare) prepare();
    const auto start = Clock::now();
    launch();
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  };
  const double cold = once();   // caches, page faults, branch predictors
  std::vector<double> times{once()};
  double total = times[0];
  if (budget.give_up_ns > 0) {
    // One of them may have been disturbed, and workers that slept meanwhile take tens of microseconds to wake: short launches get
    // that time before they are given up, or nothing of some microseconds would ever be shared.
    constexpr double kAwakeNs = 2e5;
    double best = std::min(cold, total);
    for (double spent = cold + total; best > budget.give_up_ns && spent < kAwakeNs;) {
      const double next = once();
      best = std::min(best, next), spent += next;
    }
    if (best > budget.give_up_ns) return best;
  }
  while (static_cast<int>(times.size()) < budget.max_runs &&
         (static_cast<int>(times.size()) < budget.min_runs || total < budget.min_ms * 1e6)) {
    times.push_back(once());
    total += times.back();
    if (total > 20 * budget.min_ms * 1e6 && times.size() >= (times[0] > 2e7 ? 2 : 3)) break;  // a long problem: a few runs must do
  }
  std::sort(times.begin(), times.end());
  return times[times.size() * 3 / 8];   // the median of the faster three quarters: interruptions only ever add time
}

}  // namespace tenfold::backends
