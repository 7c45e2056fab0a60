// DeviceWork of a runtime's GPUs.
#include "tenfold/internal/device_work.h"

#include "backends/cuda/device_work.h"
#include "base/check.h"
#include "runtime/shared/device_port.h"
#include "runtime/shared/runtime.h"

namespace tenfold {

std::unique_ptr<DeviceWork> open_device_work(const std::string& device, const std::shared_ptr<Runtime>& runtime) {
  const Runtime::Impl& impl = runtime::runtime_of(runtime)->impl();
  const std::shared_ptr<runtime::DevicePort> port = impl.ports->port(device, impl.shared);
  require(port->on_gpu(), ErrorKind::unsupported, "kernels in CUDA C are for GPUs, not for ", port->device());
  return backends::cuda::make_device_work({port, &port->backend()}, *impl.shared.gpus);
}

}  // namespace tenfold
