// log_softmax_lines: LogSoftmax along any axis, of any length.
#include "backends/cuda/tactics/norm/lines_common.h"

namespace tenfold::backends {

Tactic cuda_log_softmax_lines() { return cuda::lines_tactic("log_softmax_lines", "LogSoftmax"); }

}  // namespace tenfold::backends
