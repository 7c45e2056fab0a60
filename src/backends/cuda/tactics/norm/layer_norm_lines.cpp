// layer_norm_lines: LayerNormalization of any length, with its statistics.
#include "backends/cuda/tactics/norm/lines_common.h"

namespace tenfold::backends {

Tactic cuda_layer_norm_lines() { return cuda::lines_tactic("layer_norm_lines", "LayerNormalization"); }

}  // namespace tenfold::backends
