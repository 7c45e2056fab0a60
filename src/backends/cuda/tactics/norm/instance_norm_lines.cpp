// instance_norm_lines: InstanceNormalization, a block for each channel of each sample.
#include "backends/cuda/tactics/norm/lines_common.h"

namespace tenfold::backends {

Tactic cuda_instance_norm_lines() { return cuda::lines_tactic("instance_norm_lines", "InstanceNormalization"); }

}  // namespace tenfold::backends
