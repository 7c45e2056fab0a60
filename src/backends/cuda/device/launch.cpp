// Launches, plain or early (programmatic dependent launch).
#include "backends/cuda/device/launch.h"

#include <cstdlib>
#include <cstring>

namespace tenfold::backends::cuda {
namespace {

// TENFOLD_EARLY_LAUNCH=0 switches it off: to measure, and to look for a fault.
bool early_allowed() {
  static const bool allowed = [] {
    const char* text = std::getenv("TENFOLD_EARLY_LAUNCH");
    return !text || std::strcmp(text, "0") != 0;
  }();
  return allowed;
}

}  // namespace

Status::Code launch(const Queue& queue, Function function, Grid grid, unsigned threads, unsigned shared_bytes, const void* argument,
                    Start start) noexcept {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return Status::ok;  // nothing to compute
  if (!grid.fits()) return Status::failed;
  void* parameters[] = {const_cast<void*>(argument)};
  const bool early = start == Start::early && !queue.joined && queue.device.info().arch >= 90 && early_allowed();
  LaunchAttribute attribute{};
  attribute.id = kProgrammaticSerialization, attribute.value.number = 1;
  const LaunchConfig config{{static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y), static_cast<unsigned>(grid.z)},
                            {threads, 1, 1}, shared_bytes, queue.stream, &attribute, early ? 1u : 0u};
  queue.joined = false;
  const int result = driver()->launch(&config, function, parameters, nullptr);
  if (result != kSuccess) queue.failure = result;
  return status_of(result);
}

}  // namespace tenfold::backends::cuda
