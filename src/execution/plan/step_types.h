// The types of a step: what it multiplies or computes in, what it sums in, and what its result is stored as.
#pragma once

#include <optional>

#include "plan/plan.h"

namespace tenfold::plan {

struct StepTypes {
  std::optional<DType> compute;    // nothing: it only moves elements, or casts
  std::optional<DType> sum;        // nothing: it sums nothing
  std::optional<DType> storage;    // nothing: its first result is no tensor
};
StepTypes types_of(const Step& step);

}  // namespace tenfold::plan
