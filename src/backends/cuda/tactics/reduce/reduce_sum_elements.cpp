// reduce_sum_elements: ReduceSum, a thread or a block for each result, of every type.
#include "backends/cuda/tactics/reduce/reduce_elements_common.h"

namespace tenfold::backends {

Tactic cuda_reduce_sum_elements() { return cuda::reduce_elements_tactic("reduce_sum_elements", "ReduceSum"); }

}  // namespace tenfold::backends
