// softmax_rows: Softmax over contiguous rows that stay in registers.
#include "backends/cuda/tactics/norm/rows_common.h"

namespace tenfold::backends {

Tactic cuda_softmax_rows() { return cuda::rows_tactic("softmax_rows", "Softmax"); }

}  // namespace tenfold::backends
