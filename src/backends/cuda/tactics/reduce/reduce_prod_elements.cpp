// reduce_prod_elements: ReduceProd, a thread or a block for each result, of every type.
#include "backends/cuda/tactics/reduce/reduce_elements_common.h"

namespace tenfold::backends {

Tactic cuda_reduce_prod_elements() { return cuda::reduce_elements_tactic("reduce_prod_elements", "ReduceProd"); }

}  // namespace tenfold::backends
