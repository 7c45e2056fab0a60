// A runtime's GPUs.
#include "backends/cuda/device/gpus.h"

namespace tenfold::backends::cuda {

std::shared_ptr<Device> Gpus::open(int ordinal) {
  expect_usable(ordinal);
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Device>& slot = devices_[ordinal];
  if (!slot) slot = std::make_shared<Device>(ordinal, kernels_, rules_);
  return slot;
}

std::vector<GpuMemory> Gpus::memory() const {
  const std::lock_guard lock(mutex_);
  std::vector<GpuMemory> all;
  for (const auto& [ordinal, device] : devices_) {
    if (!device) continue;   // it could not be opened
    device->make_current();
    all.push_back(device->memory().use());
  }
  return all;
}

std::int64_t Gpus::trim(std::int64_t kept) {
  const std::lock_guard lock(mutex_);
  std::int64_t freed = 0;
  for (const auto& [ordinal, device] : devices_) {
    if (!device) continue;
    device->make_current();
    freed += device->memory().trim(kept);
  }
  return freed;
}

}  // namespace tenfold::backends::cuda
