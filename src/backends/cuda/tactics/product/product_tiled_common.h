// From matrix products of floats, whatever their extents, batches and strides are, to tiled kernels.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

Tactic product_tiled_tactic(const char* name, const char* op);

}  // namespace tenfold::backends::cuda
