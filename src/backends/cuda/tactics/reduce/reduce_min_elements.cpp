// reduce_min_elements: ReduceMin, a thread or a block for each result, of every type.
#include "backends/cuda/tactics/reduce/reduce_elements_common.h"

namespace tenfold::backends {

Tactic cuda_reduce_min_elements() { return cuda::reduce_elements_tactic("reduce_min_elements", "ReduceMin"); }

}  // namespace tenfold::backends
