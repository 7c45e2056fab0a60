// reduce_l1_threads: ReduceL1 over any axes, a warp or a column of threads for each result.
#include "backends/cuda/tactics/reduce/reduce_common.h"

namespace tenfold::backends {

Tactic cuda_reduce_l1_threads() { return cuda::reduce_tactic("reduce_l1_threads", "ReduceL1"); }

}  // namespace tenfold::backends
