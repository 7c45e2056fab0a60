#include "quant/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/threads/spread.h"

namespace tenfold::quant {
namespace {

// Bins, and behind them what is zero and what is not finite: every element has a place, for it is not foreseen which.
constexpr std::size_t kZero = 2 * Histogram::kBins, kNowhere = kZero + 1, kPlaces = kNowhere + 1;
using Counts = std::vector<std::uint32_t>;

void count_places(std::span<const float> values, double per_bin, Counts& counts) {
  for (const float x : values) {
    const bool finite = std::fabs(x) <= std::numeric_limits<float>::max();
    const double at = finite ? static_cast<double>(x) * per_bin : 0;
    const int whole = static_cast<int>(at), below = whole - (static_cast<double>(whole) > at ? 1 : 0);   // floor() is a call
    const std::size_t bin = static_cast<std::size_t>(std::clamp(below + Histogram::kBins, 0, 2 * Histogram::kBins - 1));
    const std::size_t place = x == 0 ? kZero : bin;
    ++counts[finite ? place : kNowhere];
  }
}

}  // namespace

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
  constexpr std::size_t kLarge = 1 << 16;
  const std::size_t parts = values.size() >= kLarge ? 4 : 1;
  std::vector<Counts> counts(parts, Counts(kPlaces, 0));
  spread(static_cast<std::int64_t>(parts), static_cast<std::int64_t>(values.size()) * 16, [&](std::int64_t part) {
    const auto p = static_cast<std::size_t>(part);
    const std::size_t begin = values.size() * p / parts, end = values.size() * (p + 1) / parts;
    count_places(values.subspan(begin, end - begin), kBins / reach_, counts[p]);
  });
  for (const Counts& some : counts) {
    for (std::size_t b = 0; b < bins_.size(); ++b) bins_[b] += some[b];
    zeros_ += some[kZero];
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
