// concat_copy: each operand copied to its place in the result.
#include "backends/cuda/tactics/move/slices_common.h"

namespace tenfold::backends {

Tactic cuda_concat_copy() { return cuda::slices_tactic("concat_copy", "Concat", true); }

}  // namespace tenfold::backends
