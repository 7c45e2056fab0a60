// max_pool_strips: MaxPool, a thread for some neighbouring results.
#include "backends/cuda/tactics/pool/pool_strips_common.h"

namespace tenfold::backends {

Tactic cuda_max_pool_strips() { return cuda::pool_strips_tactic("max_pool_strips", "MaxPool"); }

}  // namespace tenfold::backends
