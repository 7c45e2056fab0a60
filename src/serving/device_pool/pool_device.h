// One device of a pool: where it is, whether it still works, and how fast it has been. Thread safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include "device_pool/device_place.h"
#include "device_pool/work_queue.h"
#include "tenfold/error.h"
#include "tenfold/log.h"

namespace tenfold::serving {

// What no other device mends ends a call; for what these kinds say, another one takes over.
bool may_work_elsewhere(ErrorKind kind);

class PoolDevice {
 public:
  explicit PoolDevice(DevicePlace place) : place_(std::move(place)) {}
  const DevicePlace& place() const { return place_; }
  // Threads that give it work: on a GPU one copies while the other's runs compute.
  int lanes() const { return place_.on_gpu() ? 2 : 1; }

  struct Count {
    std::int64_t units = 0, cost = 0;
    double seconds = 0;
  };
  void count(std::int64_t units, std::int64_t cost, std::chrono::steady_clock::duration took);
  Count counted() const;
  double speed() const;  // cost a second so far; 1 before the first

  bool lost() const;
  std::string why_lost() const;        // empty: it works
  bool lose(const std::string& why);   // false: it was lost before
  void restore();                      // it is tried again

 private:
  const DevicePlace place_;
  std::atomic<std::int64_t> units_{0}, cost_{0}, microseconds_{0};
  mutable std::mutex mutex_;
  std::string lost_;
};

// Marks a device as lost, and logs so once; `others`: whether there are any that take its work.
void lose(PoolDevice& device, const Error& why, bool others, const LogCallback& log);
// What is thrown where every device is lost: the one's own error, or all reasons with the kind of the last. All are restored.
Error all_lost(std::span<PoolDevice* const> devices, const Error& last);
// What a queue deals by. All devices are tried again where none works.
std::vector<PoolMember> members_of(std::span<PoolDevice* const> devices, DeviceStrategy strategy);

}  // namespace tenfold::serving
