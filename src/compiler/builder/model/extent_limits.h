// Dynamic dimensions that a model declares and does not serve: a number of the exporter's example stands in one of its nodes.
#pragma once

#include <vector>

#include "ir/op_def.h"
#include "tenfold/model_error.h"

namespace tenfold::builder {

// Tries small extents for each dynamic dimension of the inputs, the others left open. `graph` is as it was imported.
std::vector<ExtentLimit> extent_limits(const ir::Graph& graph);

}  // namespace tenfold::builder
