// Requests that another engine answered because theirs failed: tenfold_fallback{model,version,from,to,reason}.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace tenfold::server {

struct Fallback {
  std::string model, version, from, to, reason;
  auto operator<=>(const Fallback&) const = default;
};

// Thread safe.
class FallbackCounts {
 public:
  void add(const Fallback& fallback, std::uint64_t requests = 1) {
    const std::lock_guard lock(mutex_);
    counts_[fallback] += requests;
  }
  std::vector<std::pair<Fallback, std::uint64_t>> get() const {
    const std::lock_guard lock(mutex_);
    return {counts_.begin(), counts_.end()};
  }

 private:
  mutable std::mutex mutex_;
  std::map<Fallback, std::uint64_t> counts_;
};
inline FallbackCounts& fallback_counts() {       // of the process: who serves a model adds to it
  static FallbackCounts counts;
  return counts;
}

}  // namespace tenfold::server
