// arg_min_lanes: ArgMin along any axis, of every type.
#include "backends/cuda/tactics/reduce/arg_common.h"

namespace tenfold::backends {

Tactic cuda_arg_min_lanes() { return cuda::arg_tactic("arg_min_lanes", "ArgMin"); }

}  // namespace tenfold::backends
