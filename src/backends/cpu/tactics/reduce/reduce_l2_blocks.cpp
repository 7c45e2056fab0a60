// reduce_l2_blocks: ReduceL2 of f32 over any axes, in rows or in vectors of columns.
#include "backends/cpu/tactics/reduce/reduce_common.h"

namespace tenfold::backends {

Tactic cpu_reduce_l2_blocks() { return cpu::reduce_tactic("reduce_l2_blocks", "ReduceL2"); }

}  // namespace tenfold::backends
