#include "device_pool/pool_device.h"

#include <algorithm>

namespace tenfold::serving {

bool may_work_elsewhere(ErrorKind kind) {
  return kind == ErrorKind::device || kind == ErrorKind::out_of_memory || kind == ErrorKind::unsupported || kind == ErrorKind::plan_refused;
}

void PoolDevice::count(std::int64_t units, std::int64_t cost, std::chrono::steady_clock::duration took) {
  microseconds_ += std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  units_ += units, cost_ += cost;
}

PoolDevice::Count PoolDevice::counted() const { return {units_, cost_, static_cast<double>(microseconds_) / 1e6}; }

double PoolDevice::speed() const {
  const Count all = counted();
  return all.cost > 0 && all.seconds > 0 ? static_cast<double>(all.cost) / all.seconds : 1;
}

bool PoolDevice::lost() const { return !why_lost().empty(); }

std::string PoolDevice::why_lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

bool PoolDevice::lose(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (!lost_.empty()) return false;
  lost_ = why.empty() ? "it failed" : why;
  return true;
}

void PoolDevice::restore() {
  const std::lock_guard lock(mutex_);
  lost_.clear();
}

void lose(PoolDevice& device, const Error& why, bool others, const LogCallback& log) {
  if (device.lose(why.what()) && others && log)
    log(Severity::warning, "the device '" + device.place().name + "' failed, and the others do its work: " + why.what());
}

Error all_lost(std::span<PoolDevice* const> devices, const Error& last) {
  std::string text = "no device is left";
  for (PoolDevice* const one : devices) {
    text += "; '" + one->place().name + "': " + one->why_lost();
    one->restore();
  }
  return devices.size() == 1 ? last : Error(last.kind(), text);
}

std::vector<PoolMember> members_of(std::span<PoolDevice* const> devices, DeviceStrategy strategy) {
  const bool none = std::all_of(devices.begin(), devices.end(), [](const PoolDevice* one) { return one->lost(); });
  const auto cpus =
      static_cast<int>(std::count_if(devices.begin(), devices.end(), [](const PoolDevice* one) { return !one->place().on_gpu(); }));
  std::vector<PoolMember> members;
  for (PoolDevice* const one : devices) {
    if (none) one->restore();
    members.push_back({.here = !one->lost(), .speed = one->speed()});
    if (strategy == DeviceStrategy::memory && members.back().here) members.back().room = free_bytes(one->place(), cpus);
  }
  return members;
}

}  // namespace tenfold::serving
