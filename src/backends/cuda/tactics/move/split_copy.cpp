// split_copy: each part copied out of the operand.
#include "backends/cuda/tactics/move/slices_common.h"

namespace tenfold::backends {

Tactic cuda_split_copy() { return cuda::slices_tactic("split_copy", "Split", false); }

}  // namespace tenfold::backends
