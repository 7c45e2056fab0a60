// The public view of devices: thin words over the backends.
#include "tenfold/device.h"

#include "backends/backend.h"
#include "base/cpu_count.h"

namespace tenfold {

std::string_view version() { return TENFOLD_VERSION; }

std::vector<DeviceDescription> devices() {
  const auto backend = backends::open_backend("cpu");
  const backends::DeviceInfo& info = backend->info();
  return {{"cpu", info.name, backends::feature_text(info.features), info.l1_bytes, info.l2_bytes, info.l3_bytes, default_threads(),
           backend->libraries()}};
}

std::uint32_t parse_cpu_features(std::string_view text) { return backends::parse_features(text); }

}  // namespace tenfold
