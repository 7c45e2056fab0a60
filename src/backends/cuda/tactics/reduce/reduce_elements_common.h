// Reductions that reduce_common has no kernel for: of integers and f64, products, logarithms, of nothing at all.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

Tactic reduce_elements_tactic(const char* name, const char* op);

}  // namespace tenfold::backends::cuda
