// hardmax_lines: Hardmax along any axis.
#include "backends/cuda/tactics/norm/lines_common.h"

namespace tenfold::backends {

Tactic cuda_hardmax_lines() { return cuda::lines_tactic("hardmax_lines", "Hardmax"); }

}  // namespace tenfold::backends
