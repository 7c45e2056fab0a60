// Concat and Split: several tensors side by side along one axis of a whole.
#pragma once

#include "backends/cuda/tactics/copy_common.h"

namespace tenfold::backends::cuda {

// `joins`: the parts are the inputs and the whole is the output; otherwise the other way round.
Tactic slices_tactic(const char* name, const char* op, bool joins);

}  // namespace tenfold::backends::cuda
