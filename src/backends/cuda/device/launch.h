// Launching a kernel whose only parameter is one structure.
#pragma once

#include "backends/cuda/device/queue.h"

namespace tenfold::backends::cuda {

struct Grid {
  unsigned x = 1, y = 1, z = 1;
};

inline Status::Code launch(const Queue& queue, Function function, Grid grid, unsigned threads, unsigned shared_bytes,
                           const void* argument) noexcept {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return Status::ok;  // nothing to compute
  void* parameters[] = {const_cast<void*>(argument)};
  return status_of(driver()->launch(function, grid.x, grid.y, grid.z, threads, 1, 1, shared_bytes, queue.stream, parameters, nullptr));
}

}  // namespace tenfold::backends::cuda
