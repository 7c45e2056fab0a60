// DeviceAllocator: device memory for the engines of a runtime, from the caller instead of the driver or the system
// (RuntimeOptions::allocator).
#pragma once

#include <cstdint>
#include <string_view>

#include "tenfold/export.h"

namespace tenfold {

// Derive from this class. An allocator gives the memory of weights, the memory of contexts (results of steps, scratch,
// copies of inputs and outputs on the GPU), and the memory in which a build times kernels. On a CPU it gives the same,
// and weights are copied into it. It does not give host memory that a GPU reads, nor what the driver and libraries
// keep. A runtime's limit and counts of GPU memory leave it out.
//
// Its functions are called from any thread, also from several at once. While they run, the caller holds no lock of
// Tenfold's that another call of them could need.
class TENFOLD_API DeviceAllocator {
 public:
  virtual ~DeviceAllocator();
  // Returns `bytes` (above 0) of memory of `device` ("cpu", "cuda:0"), aligned to `alignment` bytes. The memory is
  // ready when this returns: any stream may use it. If it returns null or memory that is not aligned, the call that
  // needed it fails with out_of_memory.
  virtual void* allocate(std::int64_t bytes, std::int64_t alignment, std::string_view device) noexcept = 0;
  // Takes back what allocate() gave, once nothing uses it any more.
  virtual void release(void* memory) noexcept = 0;
};

}  // namespace tenfold
