// A GPU that is none: memory is the host's, kernels are compiled for the host, and streams are lists. Work is done as
// late as an event or the end of a stream allows, so what is not ordered by events comes in the wrong order.
#pragma once

#include <cstring>
#include <functional>
#include <stdexcept>
#include <vector>

#include "device/window_kernels.h"

namespace tenfold::imaging::tests {

class HostWork final : public DeviceWork {
 public:
  std::int64_t left = std::int64_t{1} << 40;   // bytes of memory; what is beyond throws out_of_memory
  std::int64_t copied = 0;                     // bytes, by copies

  std::shared_ptr<void> allocate(std::int64_t bytes) override;
  std::shared_ptr<void> allocate_pinned(std::int64_t bytes) override { return allocate(bytes); }
  std::shared_ptr<void> make_stream() override;
  std::shared_ptr<void> make_event() override;
  std::shared_ptr<const void> load_kernel(const std::string& source, const char* name) override;
  void copy(void* to, const void* from, std::int64_t bytes, void* stream) override;
  void fill(void* to, int byte, std::int64_t bytes, void* stream) override;
  void launch(const void* kernel, std::array<std::int64_t, 3> blocks, unsigned threads, const void* argument,
              void* stream) override;
  void record(void* event, void* stream) override;
  void follow(void* stream, void* event) override;
  void wait(void* event) override;
  static void enqueue(void* stream, std::function<void()> work);
};

}  // namespace tenfold::imaging::tests
