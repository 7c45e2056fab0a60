// reduce_l1_elements: ReduceL1, a thread or a block for each result, of every type.
#include "backends/cuda/tactics/reduce/reduce_elements_common.h"

namespace tenfold::backends {

Tactic cuda_reduce_l1_elements() { return cuda::reduce_elements_tactic("reduce_l1_elements", "ReduceL1"); }

}  // namespace tenfold::backends
