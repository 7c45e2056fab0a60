// The public view of devices: thin words over the backends.
#include "tenfold/device.h"

#include <algorithm>
#include <cstdlib>

#include "backends/backend.h"
#include "backends/cuda/backend.h"
#include "backends/cuda/device/library.h"
#include "backends/device_traits.h"
#include "base/check.h"
#include "base/threads/cpu_count.h"
#include "base/threads/cpu_places.h"

namespace tenfold {

std::vector<DeviceDescription> devices() {
  const auto backend = backends::open_backend("cpu");
  const backends::DeviceInfo& info = backend->info();
  std::vector<DeviceDescription> list;
  list.push_back({"cpu", info.name, backends::feature_text(info.features), info.l1_bytes, info.l2_bytes, info.l3_bytes, default_threads(),
                  backend->libraries()});
  const int cores = CpuPlaces::of_this_thread().cores();   // 0: more processors than a mask can name
  list[0].cores = cores > 0 ? std::min(cores, list[0].threads) : list[0].threads;
  std::string lacks;
  for (const backends::CudaDevice& gpu : backends::cuda_devices(lacks))
    list.push_back(
        {.device = cat("cuda:", gpu.info.ordinal),
         .name = gpu.info.name,
         .features = cat("sm_", gpu.info.arch),
         .l1_bytes = gpu.info.l1_bytes,
         .l2_bytes = gpu.info.l2_bytes,
         .libraries = lacks.empty() ? std::vector<std::string>{gpu.info.libraries} : std::vector<std::string>{gpu.info.libraries, lacks},
         .memory_bytes = gpu.memory_bytes});
  return list;
}

std::string why_no_gpu() {
  std::string lacks;
  return backends::cuda_devices(lacks).empty() ? lacks : "";
}

bool is_gpu(std::string_view device) { return backends::gpu_ordinal(device).has_value(); }

std::int64_t free_memory(const std::string& device) {
  const std::optional<int> gpu = backends::gpu_ordinal(device);
  return gpu ? backends::cuda_free_bytes(*gpu) : -1;
}

void look_for_libraries_in(const std::string& folder) { backends::cuda::add_search_place(folder); }

std::uint32_t parse_cpu_features(std::string_view text) { return backends::parse_features(text); }

}  // namespace tenfold
