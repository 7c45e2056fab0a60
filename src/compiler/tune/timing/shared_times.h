// What a tenfold::TimingCache hides: times that several builds share.
#pragma once

#include <mutex>

#include "tenfold/timing_cache.h"
#include "tune/timing/timing_cache.h"

namespace tenfold {

struct TimingCache::Impl {
  tune::TimingCache copy() const {
    const std::lock_guard lock(mutex);
    return times;
  }
  void merge(const tune::TimingCache& other) {
    const std::lock_guard lock(mutex);
    times.merge(other);
  }

 private:
  mutable std::mutex mutex;
  tune::TimingCache times;
};

}  // namespace tenfold
