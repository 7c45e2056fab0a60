// Asking an allocator of the caller's, and giving back.
#include "backends/callers_memory.h"

#include <algorithm>

#include "base/check.h"

namespace tenfold {

DeviceAllocator::~DeviceAllocator() = default;

namespace backends {

std::shared_ptr<void> from_caller(const std::shared_ptr<DeviceAllocator>& allocator, std::int64_t bytes, const std::string& device,
                                  std::function<void()> settle) {
  const std::int64_t requested = std::max<std::int64_t>(bytes, 64);
  void* const memory = allocator->allocate(requested, kCallersAlignment, device);
  require(memory != nullptr, ErrorKind::out_of_memory, "the allocator gave no memory: ", requested, " bytes of ", device, " were wanted");
  std::shared_ptr<void> made(memory, [allocator, settle = std::move(settle)](void* p) {
    if (settle) settle();
    allocator->release(p);
  });
  require(reinterpret_cast<std::uintptr_t>(memory) % kCallersAlignment == 0, ErrorKind::out_of_memory,
          "the allocator gave memory that is not aligned to ", kCallersAlignment, " bytes: ", requested, " bytes of ", device,
          " were wanted");
  return made;
}

}  // namespace backends
}  // namespace tenfold
