// softmax_rows: Softmax along any axis of plain f32 tensors.
#include "backends/cpu/tactics/norm/softmax_common.h"

namespace tenfold::backends {

Tactic cpu_softmax_rows() { return cpu::softmax_tactic("softmax_rows", "Softmax"); }

}  // namespace tenfold::backends
