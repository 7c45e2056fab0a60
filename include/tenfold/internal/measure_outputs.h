// How far answers are from a reference's by a metric of ErrorBudget, for programs that have both.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tenfold/export.h"
#include "tenfold/quantize.h"

namespace tenfold {

// The interval holds the error with 95 % for other samples of the same kind.
struct MeasuredOutput {
  std::string output, problem;   // a problem, such as another shape, stands in place of numbers
  double error = 0, low = 0, high = 0;
};

// Of each output of floats of the reference; both by sample in one order. Throws invalid_argument naming the metrics that there are.
TENFOLD_API std::vector<MeasuredOutput> measure_outputs(const std::string& metric, std::span<const OutputSet> reference,
                                                        std::span<const OutputSet> candidate);

}  // namespace tenfold
