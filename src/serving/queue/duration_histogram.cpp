#include "tenfold/serving/duration_histogram.h"

#include <algorithm>
#include <numeric>

namespace tenfold {

const std::vector<double>& default_duration_bounds_us() {
  static const std::vector<double> bounds = {50,     100,    250,     500,     1000,    2500,      5000,     10'000,
                                             25'000, 50'000, 100'000, 250'000, 500'000, 1'000'000, 5'000'000};
  return bounds;
}

std::uint64_t DurationHistogram::count() const noexcept { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }

double DurationHistogram::quantile_us(double q) const noexcept {
  const double rank = std::clamp(q, 0.0, 1.0) * static_cast<double>(count());
  double below = 0;
  for (std::size_t i = 0; i < bounds_us.size(); ++i) {
    const auto inside = static_cast<double>(counts[i]);
    const double lower = i == 0 ? 0 : bounds_us[i - 1];
    if (inside > 0 && below + inside >= rank) return lower + (bounds_us[i] - lower) * std::max(rank - below, 0.0) / inside;
    below += inside;
  }
  return below < rank && !bounds_us.empty() ? bounds_us.back() : 0;
}

}  // namespace tenfold
