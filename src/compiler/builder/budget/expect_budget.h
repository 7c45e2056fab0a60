// What BuildConfig::budget has to have.
#pragma once

#include "builder/builder.h"

namespace tenfold::builder {

// Throws invalid_argument: no data, a bound that is no number above 0, an output that the model does not have, labels that no metric reads.
void expect_budget(const ir::Graph& source, const BuildConfig& config);

}  // namespace tenfold::builder
