#include "builder/open_device.h"

#include <system_error>

#include "runtime/shared/runtime.h"

namespace tenfold::builder {

OpeningDevice open_aside(const BuildConfig& config) {
  const auto open = [&config] {
    return backends::open_backend(config.device, config.cpu_features, config.runtime->impl().shared);
  };
  try {
    return std::async(std::launch::async, open);
  } catch (const std::system_error&) {   // this process may start no more threads
    return std::async(std::launch::deferred, open);
  }
}

}  // namespace tenfold::builder
