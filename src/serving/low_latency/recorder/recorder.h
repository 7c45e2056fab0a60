// Buckets of an HdrHistogram for 1 ns to 60 s with 3 significant digits.
//
// Values below 2048 have a bucket each. Above that, each doubling of the value has 1024 buckets of twice the width. The
// scheme is Gil Tene's; numbers are as in his HdrHistogram, whose files have them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "tenfold/latency_recorder.h"

namespace tenfold::low_latency {

inline constexpr int kDigits = 3;
inline constexpr int kHalfBits = 10;                        // 2048 is the power of two above 2 * 10^3
inline constexpr std::int64_t kHalf = 1 << kHalfBits;
inline constexpr int kDoublings = 26;                       // 2048 << 25 is above 60 s
inline constexpr int kBuckets = (kDoublings + 1) * static_cast<int>(kHalf);

constexpr int doubling_of(std::int64_t value) {
  return std::bit_width(static_cast<std::uint64_t>(value) | (2 * kHalf - 1)) - kHalfBits - 1;
}
constexpr int bucket_of(std::int64_t value) {
  const int doubling = doubling_of(value);
  return static_cast<int>((doubling + 1) * kHalf + (value >> doubling) - kHalf);
}
constexpr std::int64_t begin_of(int bucket) {
  const int doubling = std::max(bucket / static_cast<int>(kHalf) - 1, 0);
  return (bucket - doubling * kHalf) << doubling;
}
constexpr std::int64_t width_of(int bucket) { return std::int64_t{1} << std::max(bucket / static_cast<int>(kHalf) - 1, 0); }
static_assert(bucket_of(LatencyRecorder::kLongest) < kBuckets && bucket_of(0) == 0 && begin_of(bucket_of(1 << 20)) == 1 << 20);

}  // namespace tenfold::low_latency

namespace tenfold {

struct LatencyRecorder::State {
  std::array<std::uint64_t, low_latency::kBuckets> counts{};
  std::uint64_t count = 0;
  std::int64_t min = kLongest, max = 0;
};

}  // namespace tenfold
