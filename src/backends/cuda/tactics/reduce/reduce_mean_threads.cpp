// reduce_mean_threads: ReduceMean over any axes, a warp or a column of threads for each result.
#include "backends/cuda/tactics/reduce/reduce_common.h"

namespace tenfold::backends {

Tactic cuda_reduce_mean_threads() { return cuda::reduce_tactic("reduce_mean_threads", "ReduceMean"); }

}  // namespace tenfold::backends
