// log_softmax_rows: LogSoftmax over contiguous rows that stay in registers.
#include "backends/cuda/tactics/norm/rows_common.h"

namespace tenfold::backends {

Tactic cuda_log_softmax_rows() { return cuda::rows_tactic("log_softmax_rows", "LogSoftmax"); }

}  // namespace tenfold::backends
