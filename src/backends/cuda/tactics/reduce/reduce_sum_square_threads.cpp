// reduce_sum_square_threads: ReduceSumSquare over any axes, a warp or a column of threads for each result.
#include "backends/cuda/tactics/reduce/reduce_common.h"

namespace tenfold::backends {

Tactic cuda_reduce_sum_square_threads() { return cuda::reduce_tactic("reduce_sum_square_threads", "ReduceSumSquare"); }

}  // namespace tenfold::backends
