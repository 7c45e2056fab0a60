// Rules for the memory that a runtime takes of each GPU, and what it has of one.
#pragma once

#include <cstdint>

namespace tenfold::backends {

struct GpuMemoryRules {
  std::int64_t limit = 0;   // bytes in use at once; 0: what the GPU has
  std::int64_t kept = 0;    // bytes of freed memory that stay for later; below 0: all
};
struct GpuMemory {
  int ordinal = 0;
  std::int64_t used = 0, max_used = 0, held = 0;   // held: with what is free and kept
};

}  // namespace tenfold::backends
