#include "quant/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenfold::quant {
namespace {

// Bins, and behind them what is zero and what is not finite: every element has a place, for it is not foreseen which. Zeros have several,
// for they are many, and adding to one counter waits for the last time.
constexpr std::int32_t kLanes = 4, kZeros = 2 * Histogram::kBins, kNowhere = kZeros + kLanes, kPlaces = kNowhere + 1;
constexpr std::size_t kBlock = 1024;
using Floats [[gnu::vector_size(4 * kLanes), gnu::aligned(4), gnu::may_alias]] = float;
using Ints [[gnu::vector_size(4 * kLanes), gnu::aligned(4), gnu::may_alias]] = std::int32_t;

Ints finite_in(Floats x) { return (reinterpret_cast<Ints>(x) & 0x7fffffff) < 0x7f800000; }
Ints either(Ints which, Ints yes, Ints no) { return (which & yes) | (~which & no); }
Floats where(Ints which, Floats x) { return reinterpret_cast<Floats>(which & reinterpret_cast<Ints>(x)); }

// By bins in two factors, for a float may hold only their product's square root.
Ints places_of(Floats x, const float (&bins)[2]) {
  const Ints finite = finite_in(x);
  const Floats at = where(finite, x) * bins[0] * bins[1];
  const Ints whole = __builtin_convertvector(at, Ints), below = whole + (__builtin_convertvector(whole, Floats) > at);   // true is -1
  const Ints bin = below + (below >= Histogram::kBins) + Histogram::kBins;
  return either(finite, either(x == 0, kZeros + Ints{0, 1, 2, 3}, bin), Ints{} + kNowhere);
}

// Elements go to two lots of counters in turns, so that neighbors that are alike do not wait for each other.
void count_block(const float* x, std::size_t count, const float (&bins)[2], std::uint32_t* even, std::uint32_t* odd) {
  std::int32_t places[kBlock];
  for (std::size_t i = 0; i < count; i += kLanes) {
    Floats four{};
    if (i + kLanes <= count) four = *reinterpret_cast<const Floats*>(x + i);
    else for (std::size_t k = 0; i + k < count; ++k) four[k] = x[i + k];
    *reinterpret_cast<Ints*>(places + i) = places_of(four, bins);
  }
  std::size_t i = 0;
  for (; i + 1 < count; i += 2) ++even[places[i]], ++odd[places[i + 1]];
  if (i < count) ++even[places[i]];
}

struct Extent {
  float low = 0, high = 0;
  std::int64_t finite = 0;
};

Extent extent_of(std::span<const float> values) {
  Floats low{}, high{};
  Extent all;
  std::size_t i = 0;
  while (i + kLanes <= values.size()) {
    Ints finite{};
    for (const std::size_t end = std::min(values.size(), i + kBlock); i + kLanes <= end; i += kLanes) {
      const Floats x = *reinterpret_cast<const Floats*>(&values[i]);
      const Ints own = finite_in(x);
      const Floats v = where(own, x);
      low = v < low ? v : low, high = v > high ? v : high, finite -= own;
    }
    for (int k = 0; k < kLanes; ++k) all.finite += finite[k];
  }
  for (int k = 0; k < kLanes; ++k) all.low = std::min(all.low, low[k]), all.high = std::max(all.high, high[k]);
  for (; i < values.size(); ++i)
    if (std::isfinite(values[i])) all.low = std::min(all.low, values[i]), all.high = std::max(all.high, values[i]), ++all.finite;
  return all;
}

}  // namespace

void Histogram::add(std::span<const float> values) {
  const Extent extent = extent_of(values);
  not_finite_ += static_cast<std::int64_t>(values.size()) - extent.finite;
  if (extent.finite == 0) return;
  count_ += extent.finite;
  low_ = std::min(low_, static_cast<double>(extent.low)), high_ = std::max(high_, static_cast<double>(extent.high));
  reach_for(std::max(high_, -low_));
  if (bins_.empty()) return void(zeros_ += extent.finite);
  const int power = std::ilogb(kBins / reach_);
  const float bins[2] = {std::ldexp(1.0F, power / 2), std::ldexp(1.0F, power - power / 2)};
  std::vector<std::uint32_t> counts(2 * kPlaces, 0);
  for (std::size_t i = 0; i < values.size(); i += kBlock)
    count_block(&values[i], std::min(kBlock, values.size() - i), bins, counts.data(), counts.data() + kPlaces);
  for (std::size_t p = 0; p < kPlaces; ++p) counts[p] += counts[p + kPlaces];
  for (std::size_t b = 0; b < bins_.size(); ++b) bins_[b] += counts[b];
  for (int k = 0; k < kLanes; ++k) zeros_ += counts[static_cast<std::size_t>(kZeros + k)];
}

// Doubling joins neighbors: away from zero on both sides, so that zero stays an edge.
void Histogram::reach_for(double magnitude) {
  if (magnitude <= reach_ || magnitude == 0) return;
  const double requested = std::exp2(std::ceil(std::log2(magnitude)));
  if (bins_.empty()) {
    bins_.assign(2 * kBins, 0), reach_ = requested;
    return;
  }
  for (; reach_ < requested; reach_ *= 2) {
    std::vector<std::int64_t> joined(2 * kBins, 0);
    for (int b = 0; b < 2 * kBins; ++b) joined[static_cast<std::size_t>(kBins / 2 + b / 2)] += bins_[static_cast<std::size_t>(b)];
    bins_ = std::move(joined);
  }
}

}  // namespace tenfold::quant
