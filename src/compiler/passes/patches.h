// Convolutions whose windows tile the image, as products of the windows' elements.
#pragma once

#include <cstdint>

#include "ir/graph.h"

namespace tenfold::passes {

// Those whose channels are put last behind them, with `min` places in a window and more.
bool lower_patches(ir::Graph& graph, std::int64_t min);

}  // namespace tenfold::passes
