// Device memory from an allocator of the caller's.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tenfold/device_allocator.h"

namespace tenfold::backends {

inline constexpr std::int64_t kCallersAlignment = 256;

// Throws out_of_memory for what it refuses or does not align. `settle` runs before memory goes back: until nothing uses it.
std::shared_ptr<void> from_caller(const std::shared_ptr<DeviceAllocator>& allocator, std::int64_t bytes, const std::string& device,
                                  std::function<void()> settle = {});

}  // namespace tenfold::backends
