// What a plan cannot hold is refused before anything is chosen or timed.
#pragma once

#include "ir/op_def.h"

namespace tenfold::builder {

// Throws unsupported naming the node or value: ranks over 64, bodies nested deeper than ir::kMaxNested; invalid_model: names
// that are no UTF-8.
void check_limits(const ir::Graph& graph);

}  // namespace tenfold::builder
