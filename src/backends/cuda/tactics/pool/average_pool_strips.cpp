// average_pool_strips: AveragePool, a thread for some neighbouring results.
#include "backends/cuda/tactics/pool/pool_strips_common.h"

namespace tenfold::backends {

Tactic cuda_average_pool_strips() { return cuda::pool_strips_tactic("average_pool_strips", "AveragePool"); }

}  // namespace tenfold::backends
