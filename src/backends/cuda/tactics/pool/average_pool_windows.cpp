// average_pool_windows: AveragePool, a thread for each result.
#include "backends/cuda/tactics/pool/pool_common.h"

namespace tenfold::backends {

Tactic cuda_average_pool_windows() { return cuda::pool_tactic("average_pool_windows", "AveragePool"); }

}  // namespace tenfold::backends
