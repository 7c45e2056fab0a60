// Work of libraries on top of the runtime, on streams of their own.
#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/cuda/device/gpus.h"
#include "tenfold/internal/device_work.h"

namespace tenfold::backends::cuda {

// `backend`: where memory comes from.
std::unique_ptr<DeviceWork> make_device_work(std::shared_ptr<Backend> backend, Gpus& gpus);

// What load_kernel() compiles.
std::string with_prelude(const std::string& source);

}  // namespace tenfold::backends::cuda
