// Histogram: durations in buckets of 1.6 %, from 1 us to an hour.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenfold::load {

class Histogram {
 public:
  void add(std::int64_t ns) {
    const auto us = static_cast<std::uint64_t>(ns < 0 ? 0 : ns) * kScale / 1000;
    const std::size_t at = bucket(us);
    if (at >= counts_.size()) counts_.resize(at + 1);
    ++counts_[at];
    ++count_;
    sum_us_ += static_cast<double>(ns) / 1e3;
  }
  std::uint64_t count() const { return count_; }
  double mean_us() const { return count_ ? sum_us_ / static_cast<double>(count_) : 0; }
  // The upper end of the bucket in which the quantile lies.
  double quantile_us(double q) const {
    const auto rank = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_)));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if ((seen += counts_[i]) >= rank && seen > 0) return static_cast<double>(end_of(i)) / kScale;
    return 0;
  }

 private:
  static constexpr std::uint64_t kScale = 16, kParts = 64;   // buckets of 1/16 us up to 4 us, then 64 for each power of two

  static std::size_t bucket(std::uint64_t value) {
    if (value < kParts) return value;
    const int shift = std::bit_width(value) - std::bit_width(kParts);
    return static_cast<std::size_t>(static_cast<std::uint64_t>(shift) * kParts + (value >> shift));
  }
  static std::uint64_t end_of(std::size_t bucket) {
    if (bucket < kParts) return bucket + 1;
    const std::size_t shift = bucket / kParts - 1;
    return (bucket - shift * kParts + 1) << shift;
  }

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  double sum_us_ = 0;
};

}  // namespace tenfold::load
