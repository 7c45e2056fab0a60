// arg_max_lanes: ArgMax along any axis, of every type.
#include "backends/cuda/tactics/reduce/arg_common.h"

namespace tenfold::backends {

Tactic cuda_arg_max_lanes() { return cuda::arg_tactic("arg_max_lanes", "ArgMax"); }

}  // namespace tenfold::backends
