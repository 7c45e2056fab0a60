// Reductions and global poolings over any axes, in any layout and strides.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

Tactic reduce_tactic(const char* name, const char* op);

}  // namespace tenfold::backends::cuda
