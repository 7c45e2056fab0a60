// DurationHistogram: how many requests took how long, as a RequestQueue counts them.
#pragma once

#include <cstdint>
#include <vector>

#include "tenfold/export.h"

namespace tenfold {

// From 50 us to 5 s, in steps of 2 to 2.5.
TENFOLD_API const std::vector<double>& default_duration_bounds_us();

// The upper bounds of buckets, inclusive, in microseconds, rising. Empty: default_duration_bounds_us().
struct DurationBounds {
  std::vector<double> request, queue, compute_input, compute_infer, compute_output;
};

struct DurationHistogram {
  std::vector<double> bounds_us;
  std::vector<std::uint64_t> counts;             // by bucket; one more than bounds: what is longer than all of them
  TENFOLD_API std::uint64_t count() const noexcept;
  // The duration that the share `q` of all does not exceed, 0 to 1, as if they lay evenly in each bucket. Where it lies beyond all
  // bounds, the last bound. 0 without any.
  TENFOLD_API double quantile_us(double q) const noexcept;
};

// Of requests that succeeded.
struct RequestHistograms {
  DurationHistogram request, queue, compute_input, compute_infer, compute_output;
};

}  // namespace tenfold
