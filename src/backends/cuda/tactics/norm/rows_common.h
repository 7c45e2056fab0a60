// Softmax and normalizations over contiguous rows of a known length.
#pragma once

#include "backends/cuda/codegen/norm/rows.h"
#include "backends/tactic.h"

namespace tenfold::backends::cuda {

// Whether axis and operands are such that rows are contiguous, and what to generate.
Verdict as_rows(const Problem& p, RowProblem& rows);

}  // namespace tenfold::backends::cuda
