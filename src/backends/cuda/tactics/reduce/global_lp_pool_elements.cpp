// global_lp_pool_elements: GlobalLpPool, a thread or a block for each channel.
#include "backends/cuda/tactics/reduce/reduce_elements_common.h"

namespace tenfold::backends {

Tactic cuda_global_lp_pool_elements() { return cuda::reduce_elements_tactic("global_lp_pool_elements", "GlobalLpPool"); }

}  // namespace tenfold::backends
