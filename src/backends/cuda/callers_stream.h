// Streams that callers make here, to put work of their own and of engines on.
#pragma once

#include <memory>

#include "backends/cuda/device/gpus.h"

namespace tenfold::backends::cuda {

// A CUstream; it is waited for and ended with the last that has it. Throws device.
std::shared_ptr<void> make_callers_stream(Gpus& gpus, int ordinal);

}  // namespace tenfold::backends::cuda
