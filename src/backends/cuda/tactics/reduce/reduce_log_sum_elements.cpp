// reduce_log_sum_elements: ReduceLogSum, a thread or a block for each result, of every type.
#include "backends/cuda/tactics/reduce/reduce_elements_common.h"

namespace tenfold::backends {

Tactic cuda_reduce_log_sum_elements() { return cuda::reduce_elements_tactic("reduce_log_sum_elements", "ReduceLogSum"); }

}  // namespace tenfold::backends
