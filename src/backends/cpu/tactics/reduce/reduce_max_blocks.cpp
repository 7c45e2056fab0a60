// reduce_max_blocks: ReduceMax of f32 over any axes, in rows or in vectors of columns.
#include "backends/cpu/tactics/reduce/reduce_common.h"

namespace tenfold::backends {

Tactic cpu_reduce_max_blocks() { return cpu::reduce_tactic("reduce_max_blocks", "ReduceMax"); }

}  // namespace tenfold::backends
