// log_softmax_rows: LogSoftmax along any axis of plain f32 tensors.
#include "backends/cpu/tactics/norm/softmax_common.h"

namespace tenfold::backends {

Tactic cpu_log_softmax_rows() { return cpu::softmax_tactic("log_softmax_rows", "LogSoftmax"); }

}  // namespace tenfold::backends
