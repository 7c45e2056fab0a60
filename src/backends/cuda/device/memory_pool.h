// The memory of one GPU that the engines of one runtime share: counted, limited, and kept for them when it is free.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "backends/cuda/device/driver.h"
#include "backends/gpu_memory.h"

namespace tenfold::backends::cuda {

// Thread safe. The device is current on a thread that calls.
class MemoryPool {
 public:
  // Where freed memory is kept and the driver has pools, a pool of its own; else each piece is the driver's own.
  MemoryPool(int ordinal, std::int64_t device_bytes, bool driver_has_pools, const GpuMemoryRules& rules);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // Aligned to 256 bytes at least; any stream may use it. Throws out_of_memory with what was wanted and what there is, and device where the
  // GPU is lost.
  DevicePointer take(std::int64_t bytes);
  // Waits for all work on the device, as the driver does that frees memory: some of it may still use this.
  void give_back(DevicePointer memory) noexcept;
  // Gives what is free back to the driver, but `kept` bytes. Returns how many bytes went.
  std::int64_t trim(std::int64_t kept);
  GpuMemory use() const;

 private:
  int request_memory(DevicePointer& pointer, std::int64_t bytes) noexcept;
  std::int64_t held() const noexcept;   // under the lock

  const int ordinal_;
  const std::int64_t device_bytes_;
  const GpuMemoryRules rules_;
  Pool pool_ = nullptr;              // the driver's; null: none
  StreamHandle stream_ = nullptr;    // on which it allocates and frees
  mutable std::mutex mutex_;
  std::map<DevicePointer, std::int64_t> taken_;
  std::int64_t used_ = 0, max_used_ = 0;
};

}  // namespace tenfold::backends::cuda
