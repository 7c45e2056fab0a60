// Pointwise operators and Regions as elementwise problems.
#pragma once

#include "backends/cuda/codegen/elements.h"

namespace tenfold::backends::cuda {

// The body the operator or Region means, its epilogue composed behind it.
ir::Body whole_body(const Problem& p);
// No, with the reason, or what to generate; it points into `p`.
Verdict as_elements(const Problem& p, ElementsProblem& elements);

}  // namespace tenfold::backends::cuda
