#include "quant/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenfold::quant {

void Histogram::add(std::span<const float> values) {
  float low = 0, high = 0;
  std::int64_t finite = 0;
  for (const float x : values) {
    if (!(std::fabs(x) <= std::numeric_limits<float>::max())) continue;
    low = std::min(low, x), high = std::max(high, x), ++finite;
  }
  not_finite_ += static_cast<std::int64_t>(values.size()) - finite;
  if (finite == 0) return;
  count_ += finite;
  low_ = std::min(low_, static_cast<double>(low)), high_ = std::max(high_, static_cast<double>(high));
  reach_for(std::max(high_, -low_));
  if (bins_.empty()) return void(zeros_ += finite);
  const double per_bin = kBins / reach_;
  for (const float x : values) {
    if (x == 0) ++zeros_;
    else if (std::fabs(x) <= std::numeric_limits<float>::max()) {
      const double at = static_cast<double>(x) * per_bin;
      const int whole = static_cast<int>(at), below = static_cast<double>(whole) > at ? whole - 1 : whole;   // floor() is a call
      ++bins_[static_cast<std::size_t>(std::clamp(below + kBins, 0, 2 * kBins - 1))];
    }
  }
}

// Doubling joins neighbours: away from zero on both sides, so that zero stays an edge.
void Histogram::reach_for(double magnitude) {
  if (magnitude <= reach_ || magnitude == 0) return;
  const double wanted = std::exp2(std::ceil(std::log2(magnitude)));
  if (bins_.empty()) {
    bins_.assign(2 * kBins, 0), reach_ = wanted;
    return;
  }
  for (; reach_ < wanted; reach_ *= 2) {
    std::vector<std::int64_t> joined(2 * kBins, 0);
    for (int b = 0; b < 2 * kBins; ++b) joined[static_cast<std::size_t>(kBins / 2 + b / 2)] += bins_[static_cast<std::size_t>(b)];
    bins_ = std::move(joined);
  }
}

}  // namespace tenfold::quant
