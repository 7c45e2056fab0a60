// Host memory that GPUs read, kept for the next one who needs as much: the driver takes a millisecond for three megabytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace tenfold::backends::cuda {

// Thread safe.
class PinnedCache {
 public:
  std::shared_ptr<void> take(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = free_.find(bytes);
    if (found == free_.end()) return nullptr;
    std::shared_ptr<void> memory = std::move(found->second);
    free_.erase(found);
    held_ -= bytes;
    return memory;
  }
  void give_back(std::shared_ptr<void> memory, std::int64_t bytes) {
    constexpr std::int64_t kMaxBytes = 64 << 20;
    const std::lock_guard lock(mutex_);
    if (held_ + bytes > kMaxBytes) return;
    free_.emplace(bytes, std::move(memory));
    held_ += bytes;
  }

 private:
  std::mutex mutex_;
  std::multimap<std::int64_t, std::shared_ptr<void>> free_;
  std::int64_t held_ = 0;
};

}  // namespace tenfold::backends::cuda
