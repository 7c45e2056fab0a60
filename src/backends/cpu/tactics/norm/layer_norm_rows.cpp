// layer_norm_rows: LayerNormalization over contiguous rows; an epilogue runs on a few rows while they are in cache.
#include "backends/cpu/tactics/norm/norm_rows_common.h"

namespace tenfold::backends {

Tactic cpu_layer_norm_rows() { return cpu::norm_rows("layer_norm_rows", "LayerNormalization"); }

}  // namespace tenfold::backends
