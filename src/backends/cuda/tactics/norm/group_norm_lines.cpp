// group_norm_lines: GroupNormalization, a block for each group of each sample.
#include "backends/cuda/tactics/norm/lines_common.h"

namespace tenfold::backends {

Tactic cuda_group_norm_lines() { return cuda::lines_tactic("group_norm_lines", "GroupNormalization"); }

}  // namespace tenfold::backends
