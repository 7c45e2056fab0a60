// reduce_max_threads: ReduceMax over any axes, a warp or a column of threads for each result.
#include "backends/cuda/tactics/reduce/reduce_common.h"

namespace tenfold::backends {

Tactic cuda_reduce_max_threads() { return cuda::reduce_tactic("reduce_max_threads", "ReduceMax"); }

}  // namespace tenfold::backends
