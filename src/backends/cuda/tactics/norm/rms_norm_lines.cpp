// rms_norm_lines: RMSNormalization of any length.
#include "backends/cuda/tactics/norm/lines_common.h"

namespace tenfold::backends {

Tactic cuda_rms_norm_lines() { return cuda::lines_tactic("rms_norm_lines", "RMSNormalization"); }

}  // namespace tenfold::backends
