// max_pool_windows: MaxPool, a thread for each result.
#include "backends/cuda/tactics/pool/pool_common.h"

namespace tenfold::backends {

Tactic cuda_max_pool_windows() { return cuda::pool_tactic("max_pool_windows", "MaxPool"); }

}  // namespace tenfold::backends
