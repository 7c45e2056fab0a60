// Streams of callers.
#include "tenfold/device_stream.h"

#include "backends/cuda/callers_stream.h"
#include "base/check.h"
#include "runtime/shared/device_port.h"
#include "runtime/shared/runtime.h"

namespace tenfold {
namespace {

std::shared_ptr<runtime::DevicePort> port_of(const std::string& device, const Runtime::Impl& impl) {
  std::shared_ptr<runtime::DevicePort> port = impl.ports->port(device, impl.shared);
  require(port->on_gpu(), ErrorKind::unsupported, "streams are for GPUs, ", port->device(), " has none");
  return port;
}

}  // namespace

DeviceStream::DeviceStream(const std::string& device, const std::shared_ptr<Runtime>& runtime) {
  const Runtime::Impl& impl = runtime::runtime_of(runtime)->impl();
  stream_ = backends::cuda::make_callers_stream(*impl.shared.gpus, port_of(device, impl)->backend().info().ordinal);
}

void synchronize_stream(const std::string& device, void* stream, const std::shared_ptr<Runtime>& runtime) {
  const Runtime::Impl& impl = runtime::runtime_of(runtime)->impl();
  constexpr std::uintptr_t kDefault = 1;   // CU_STREAM_LEGACY: null would be the port's own
  port_of(device, impl)->wait_for(stream ? stream : reinterpret_cast<void*>(kDefault));
}

}  // namespace tenfold
