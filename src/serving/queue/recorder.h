// The statistics of a queue.
#pragma once

#include <mutex>

#include "tenfold/serving/request_queue.h"

namespace tenfold::serving_queue {

// Thread safe.
class Recorder {
 public:
  void received();
  void finished(const RequestOutcome& outcome, std::chrono::steady_clock::time_point arrival) noexcept;
  void ran(const BatchRun& run);
  void closed(BatchClosed reason);
  void cache_hit(std::chrono::steady_clock::time_point arrival, std::chrono::steady_clock::time_point start) noexcept;
  void cache_miss(std::chrono::nanoseconds looked) noexcept;
  QueueStatistics get() const;

 private:
  mutable std::mutex mutex_;
  QueueStatistics sums_;
};

}  // namespace tenfold::serving_queue
