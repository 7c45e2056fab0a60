// reduce_max_elements: ReduceMax, a thread or a block for each result, of every type.
#include "backends/cuda/tactics/reduce/reduce_elements_common.h"

namespace tenfold::backends {

Tactic cuda_reduce_max_elements() { return cuda::reduce_elements_tactic("reduce_max_elements", "ReduceMax"); }

}  // namespace tenfold::backends
