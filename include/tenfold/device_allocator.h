// DeviceAllocator: where engines of a runtime get device memory from, if not from the driver or the system (RuntimeOptions::allocator).
#pragma once

#include <cstdint>
#include <string_view>

#include "tenfold/export.h"

namespace tenfold {

// To be derived from. It gives the memory of weights, of contexts (results of steps, scratch, copies of inputs and outputs that lie on the
// GPU), and what a build times kernels in; on a CPU, too, where weights are then copied into it. The host's memory that a GPU reads, and
// what the driver and libraries keep, are not asked for here. Limits and counts of a runtime's GPU memory do not know of it.
//
// Called from any thread, also from several at once, and never with a lock of Tenfold's that another call of it could need.
class TENFOLD_API DeviceAllocator {
 public:
  virtual ~DeviceAllocator();
  // `bytes` (above 0) of `device` ("cpu", "cuda:0"), aligned to `alignment`. Ready when this returns: any stream may use it. Null: there is
  // none, which whoever asked gets as out_of_memory; so it does where the memory is not aligned. It may not throw.
  virtual void* allocate(std::int64_t bytes, std::int64_t alignment, std::string_view device) noexcept = 0;
  // What allocate() gave, once nothing uses it any more.
  virtual void release(void* memory) noexcept = 0;
};

}  // namespace tenfold
