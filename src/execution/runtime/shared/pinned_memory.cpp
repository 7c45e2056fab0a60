// Host memory for callers that GPUs reach, and theirs.
#include "tenfold/pinned_memory.h"

#include "backends/cuda/registered_memory.h"
#include "base/check.h"
#include "runtime/shared/device_port.h"
#include "runtime/shared/runtime.h"

namespace tenfold {
namespace {

std::shared_ptr<runtime::DevicePort> port_of(const std::string& device, const Runtime::Impl& impl) {
  return impl.ports->port(device, impl.shared);
}

}  // namespace

PinnedMemory::PinnedMemory(const std::string& device, std::int64_t bytes, const std::shared_ptr<Runtime>& runtime) : bytes_(bytes) {
  require(bytes >= 0, ErrorKind::invalid_argument, "pinned memory of ", bytes, " bytes was asked for: 0 or more were expected");
  const std::shared_ptr<runtime::DevicePort> port = port_of(device, runtime::runtime_of(runtime)->impl());
  pinned_ = port->on_gpu();
  std::shared_ptr<void> memory = port->backend().memory().allocate_host(bytes);
  void* const address = memory.get();
  memory_ = {address, [port, memory = std::move(memory)](void*) mutable { memory.reset(); }};   // the backend outlives its memory
}

PinnedMemory PinnedMemory::of_callers(const std::string& device, void* memory, std::int64_t bytes,
                                      const std::shared_ptr<Runtime>& runtime) {
  require(memory != nullptr && bytes > 0, ErrorKind::invalid_argument, "registering ", bytes, " bytes at ", memory,
          ": memory of 1 byte or more was expected");
  const Runtime::Impl& impl = runtime::runtime_of(runtime)->impl();
  const std::shared_ptr<runtime::DevicePort> port = port_of(device, impl);
  PinnedMemory made;
  made.bytes_ = bytes, made.pinned_ = port->on_gpu();
  if (made.pinned_) made.memory_ = backends::cuda::register_memory(*impl.shared.gpus, port->backend().info().ordinal, memory, bytes);
  else made.memory_ = std::shared_ptr<void>(std::shared_ptr<void>(), memory);
  return made;
}

}  // namespace tenfold
