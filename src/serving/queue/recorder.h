// The statistics of a queue.
#pragma once

#include <mutex>

#include "tenfold/serving/request_queue.h"

namespace tenfold::serving_queue {

// Counts durations by bucket.
class HistogramCounter {
 public:
  explicit HistogramCounter(std::vector<double> bounds_us);   // throws invalid_argument
  void add(std::uint64_t ns) noexcept;
  const DurationHistogram& get() const { return histogram_; }

 private:
  DurationHistogram histogram_;
  std::vector<std::uint64_t> bounds_ns_;
};

// Thread safe.
class Recorder {
 public:
  explicit Recorder(const DurationBounds& bounds = {});   // throws invalid_argument
  void received();
  void finished(const RequestOutcome& outcome, std::chrono::steady_clock::time_point arrival) noexcept;
  void ran(const BatchRun& run);
  void closed(BatchClosed reason);
  void cache_hit(std::chrono::steady_clock::time_point arrival, std::chrono::steady_clock::time_point start) noexcept;
  void cache_miss(std::chrono::nanoseconds looked) noexcept;
  QueueStatistics get() const;

 private:
  void succeeded(const BatchRun* run, std::chrono::steady_clock::time_point arrival, std::chrono::steady_clock::time_point now) noexcept;

  mutable std::mutex mutex_;
  QueueStatistics sums_;
  HistogramCounter request_, queue_, compute_input_, compute_infer_, compute_output_;
};

}  // namespace tenfold::serving_queue
