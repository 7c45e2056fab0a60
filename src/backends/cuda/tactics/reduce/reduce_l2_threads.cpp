// reduce_l2_threads: ReduceL2 over any axes, a warp or a column of threads for each result.
#include "backends/cuda/tactics/reduce/reduce_common.h"

namespace tenfold::backends {

Tactic cuda_reduce_l2_threads() { return cuda::reduce_tactic("reduce_l2_threads", "ReduceL2"); }

}  // namespace tenfold::backends
