// The GPUs that one runtime has open, and the kernels that were compiled for any of them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/cuda/device/device.h"
#include "backends/cuda/device/pinned_cache.h"

namespace tenfold::backends::cuda {

// Thread safe. Devices outlive this while somebody has them.
class Gpus {
 public:
  explicit Gpus(const GpuMemoryRules& rules = {}) : rules_(rules) {}
  std::shared_ptr<Device> open(int ordinal);   // the same each time; throws as Device's constructor does, and where the GPU is lost
  const std::shared_ptr<PinnedCache>& pinned() const { return pinned_; }
  std::vector<GpuMemory> memory() const;       // of each, by ordinal
  std::int64_t trim(std::int64_t kept);        // on each; bytes that went back to the driver

 private:
  const GpuMemoryRules rules_;
  const std::shared_ptr<KernelStore> kernels_ = std::make_shared<KernelStore>();
  const std::shared_ptr<PinnedCache> pinned_ = std::make_shared<PinnedCache>();
  mutable std::mutex mutex_;
  std::map<int, std::shared_ptr<Device>> devices_;
};

}  // namespace tenfold::backends::cuda
