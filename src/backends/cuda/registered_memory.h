// Memory of callers that the driver fixes in place, so that GPUs copy from and to it by themselves.
#pragma once

#include <memory>

#include "backends/cuda/device/gpus.h"

namespace tenfold::backends::cuda {

// `memory` again, registered until the last copy of the pointer ends; what it points to stays the caller's. Throws invalid_argument where
// it is registered already, out_of_memory, device.
std::shared_ptr<void> register_memory(Gpus& gpus, int ordinal, void* memory, std::int64_t bytes);

}  // namespace tenfold::backends::cuda
