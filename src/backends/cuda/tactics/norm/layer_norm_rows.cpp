// layer_norm_rows: LayerNormalization over contiguous rows that stay in registers.
#include "backends/cuda/tactics/norm/rows_common.h"

namespace tenfold::backends {

Tactic cuda_layer_norm_rows() { return cuda::rows_tactic("layer_norm_rows", "LayerNormalization"); }

}  // namespace tenfold::backends
