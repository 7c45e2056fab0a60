// lp_normalization_lines: LpNormalization along any axis.
#include "backends/cuda/tactics/norm/lines_common.h"

namespace tenfold::backends {

Tactic cuda_lp_normalization_lines() { return cuda::lines_tactic("lp_normalization_lines", "LpNormalization"); }

}  // namespace tenfold::backends
