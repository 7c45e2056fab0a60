// reduce_l2_elements: ReduceL2, a thread or a block for each result, of every type.
#include "backends/cuda/tactics/reduce/reduce_elements_common.h"

namespace tenfold::backends {

Tactic cuda_reduce_l2_elements() { return cuda::reduce_elements_tactic("reduce_l2_elements", "ReduceL2"); }

}  // namespace tenfold::backends
