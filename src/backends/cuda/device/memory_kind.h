// What kind of memory an address belongs to, as the driver knows it.
#pragma once

#include "backends/cuda/device/driver.h"
#include "backends/device_memory.h"

namespace tenfold::backends::cuda {

// With the device current. In the plural, which gives 0 for memory that is not CUDA's: the singular fails there, and memcheck reports each
// failure.
inline MemoryKind kind_of(const void* memory) noexcept {
  unsigned type = 0;
  PointerAttribute attribute = kMemoryType;
  void* answers[] = {&type};
  const int result = driver()->pointer_attributes(1, &attribute, answers, reinterpret_cast<DevicePointer>(memory));
  return result != kSuccess || type == 0 ? MemoryKind::pageable : type == kHostMemory ? MemoryKind::pinned : MemoryKind::device;
}

}  // namespace tenfold::backends::cuda
