// The CUDA backend: NVIDIA GPUs, through the driver and libraries that are opened at run time.
#pragma once

#include "backends/backend.h"
#include "backends/gpu_memory.h"

namespace tenfold::backends {

// Throws device, saying what is missing. `gpus`: those that a runtime has open; null: the backend's own. `allocator`: where device
// memory comes from; null: the GPU's pool.
std::shared_ptr<Backend> open_cuda(int ordinal, const std::shared_ptr<cuda::Gpus>& gpus = nullptr,
                                   const std::shared_ptr<DeviceAllocator>& allocator = nullptr);

// What a runtime has of GPUs: nothing until one is opened.
std::shared_ptr<cuda::Gpus> make_gpus(const GpuMemoryRules& rules);
std::vector<GpuMemory> gpu_memory(const cuda::Gpus& gpus);
std::int64_t trim_gpu_memory(cuda::Gpus& gpus, std::int64_t kept);   // bytes that went back to the driver; throws invalid_argument, device

// The GPUs of this machine; or in one line why there are none, or what they lack.
struct CudaDevice {
  DeviceInfo info;
  std::int64_t memory_bytes = 0;
};
std::vector<CudaDevice> cuda_devices(std::string& what_lacks);
std::int64_t cuda_free_bytes(int ordinal);  // of its memory, now
void* cuda_stream(const RunArgs& args) noexcept;   // the CUstream that a tactic of a GPU is to use

}  // namespace tenfold::backends
