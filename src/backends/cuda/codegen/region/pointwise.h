// Pointwise operators and Regions as elementwise problems.
#pragma once

#include "backends/cuda/codegen/elements.h"

namespace tenfold::backends::cuda {

// No, with the reason, or what to generate; it points into `p`.
Verdict as_elements(const Problem& p, ElementsProblem& elements);

}  // namespace tenfold::backends::cuda
