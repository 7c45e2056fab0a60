// Quantization and dequantization as regions: what lower_qdq and lower_qdq_for_gpu do.
#pragma once

#include "passes/pass.h"
#include "passes/precision/qdq.h"

namespace tenfold::passes {

// Nodes on activations become regions, dequantized constants become constants of floats. `float8`: e4m3, too.
bool quantize_regions(ir::Graph& graph, bool float8);

}  // namespace tenfold::passes
