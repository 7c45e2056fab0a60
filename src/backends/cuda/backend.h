// The CUDA backend: NVIDIA GPUs, through the driver and libraries that are opened at run time.
#pragma once

#include "backends/backend.h"

namespace tenfold::backends {

// Throws device, saying what is missing.
std::shared_ptr<Backend> open_cuda(int ordinal);

// The GPUs of this machine; or in one line why there are none, or what they lack.
struct CudaDevice {
  DeviceInfo info;
  std::int64_t memory_bytes = 0;
};
std::vector<CudaDevice> cuda_devices(std::string& what_lacks);
std::int64_t cuda_free_bytes(int ordinal);  // of its memory, now
void* cuda_stream(const RunArgs& args) noexcept;   // the CUstream that a tactic of a GPU is to use

}  // namespace tenfold::backends
