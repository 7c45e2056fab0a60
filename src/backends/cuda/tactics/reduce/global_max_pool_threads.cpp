// global_max_pool_threads: GlobalMaxPool over any axes, a warp or a column of threads for each result.
#include "backends/cuda/tactics/reduce/reduce_common.h"

namespace tenfold::backends {

Tactic cuda_global_max_pool_threads() { return cuda::reduce_tactic("global_max_pool_threads", "GlobalMaxPool"); }

}  // namespace tenfold::backends
