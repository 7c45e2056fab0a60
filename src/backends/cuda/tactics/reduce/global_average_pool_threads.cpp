// global_average_pool_threads: GlobalAveragePool over any axes, a warp or a column of threads for each result.
#include "backends/cuda/tactics/reduce/reduce_common.h"

namespace tenfold::backends {

Tactic cuda_global_average_pool_threads() { return cuda::reduce_tactic("global_average_pool_threads", "GlobalAveragePool"); }

}  // namespace tenfold::backends
