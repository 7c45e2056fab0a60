// softmax_lines: Softmax along any axis, of any length.
#include "backends/cuda/tactics/norm/lines_common.h"

namespace tenfold::backends {

Tactic cuda_softmax_lines() { return cuda::lines_tactic("softmax_lines", "Softmax"); }

}  // namespace tenfold::backends
