// ArgMax and ArgMin along any axis: a thread for each result, or a block where the axis is long.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

Tactic arg_tactic(const char* name, const char* op);

}  // namespace tenfold::backends::cuda
