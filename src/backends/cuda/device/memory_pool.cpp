// Device memory from the driver's stream-ordered pools, or piece by piece.
#include "backends/cuda/device/memory_pool.h"

#include <algorithm>
#include <limits>

#include "backends/cuda/device/failures.h"
#include "backends/cuda/device/memory_left.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

MemoryPool::MemoryPool(int ordinal, std::int64_t device_bytes, bool driver_has_pools, const GpuMemoryRules& rules)
    : ordinal_(ordinal), device_bytes_(device_bytes), rules_(rules) {
  if (!driver_has_pools || rules.kept == 0) return;
  const Driver& d = *driver();
  PoolProperties properties;
  properties.ordinal = ordinal;
  std::uint64_t kept = rules.kept < 0 ? std::numeric_limits<std::uint64_t>::max() : static_cast<std::uint64_t>(rules.kept);
  expect(d.stream_create(&stream_, kStreamNonBlocking), "cuStreamCreate", "making a stream for memory");
  int result = d.pool_create(&pool_, &properties);
  if (result == kSuccess) result = d.pool_set(pool_, kPoolKeeps, &kept);
  if (result == kSuccess) return;
  if (pool_) d.pool_destroy(pool_);
  d.stream_destroy(stream_);
  expect(result, "cuMemPoolCreate", "making a pool of memory");
}

MemoryPool::~MemoryPool() {
  if (pool_) driver()->pool_destroy(pool_);
  if (stream_) driver()->stream_destroy(stream_);
}

// From the pool a piece is there for every stream once the pool's own has come to it.
int MemoryPool::request_memory(DevicePointer& pointer, std::int64_t bytes) noexcept {
  const Driver& d = *driver();
  const auto requested = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 64));
  if (!pool_) return d.allocate(&pointer, requested);
  int result = d.pool_allocate(&pointer, requested, pool_, stream_);
  if (result == kOutOfMemory && d.pool_trim(pool_, 0) == kSuccess) result = d.pool_allocate(&pointer, requested, pool_, stream_);
  return result == kSuccess ? d.stream_wait(stream_) : result;
}

DevicePointer MemoryPool::take(std::int64_t bytes) {
  expect_usable(ordinal_);
  const std::lock_guard lock(mutex_);
  require(rules_.limit <= 0 || bytes <= rules_.limit - used_, ErrorKind::out_of_memory, bytes, " bytes of GPU memory wanted, ", used_,
          " are in use by this runtime, whose limit is ", rules_.limit, " (RuntimeOptions::gpu_memory_limit)");
  DevicePointer pointer = 0;
  const int result = bytes > device_bytes_ ? kOutOfMemory : request_memory(pointer, bytes);
  if (result == kOutOfMemory) {
    note_failure(result, pool_ ? "cuMemAllocFromPoolAsync" : "cuMemAlloc");
    fail(ErrorKind::out_of_memory, cat(bytes, " bytes of GPU memory wanted, ", memory_left()));
  }
  expect(result, pool_ ? "cuMemAllocFromPoolAsync" : "cuMemAlloc", "allocating memory");
  taken_.emplace(pointer, bytes);
  used_ += bytes;
  max_used_ = std::max(max_used_, used_);
  return pointer;
}

void MemoryPool::give_back(DevicePointer memory) noexcept {
  const Driver& d = *driver();
  const std::lock_guard lock(mutex_);
  if (const auto it = taken_.find(memory); it != taken_.end()) used_ -= it->second, taken_.erase(it);
  if (!pool_) {
    d.release(memory);
    return;
  }
  d.synchronize();
  if (d.pool_release(memory, stream_) == kSuccess) d.stream_wait(stream_);
}

std::int64_t MemoryPool::held() const noexcept {
  std::uint64_t bytes = 0;
  if (!pool_ || driver()->pool_get(pool_, kPoolReserved, &bytes) != kSuccess) return used_;
  return static_cast<std::int64_t>(bytes);
}

std::int64_t MemoryPool::trim(std::int64_t kept) {
  require(kept >= 0, ErrorKind::invalid_argument, "memory of ", kept, " bytes cannot be kept; 0 or more was expected");
  const std::lock_guard lock(mutex_);
  const std::int64_t before = held();
  // The driver counts what is in use to what it keeps.
  if (pool_) expect(driver()->pool_trim(pool_, static_cast<std::size_t>(used_ + kept)), "cuMemPoolTrimTo", "giving memory back");
  return before - held();
}

GpuMemory MemoryPool::use() const {
  const std::lock_guard lock(mutex_);
  return {ordinal_, used_, max_used_, held()};
}

}  // namespace tenfold::backends::cuda
