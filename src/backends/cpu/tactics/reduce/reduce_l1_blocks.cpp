// reduce_l1_blocks: ReduceL1 of f32 over any axes, in rows or in vectors of columns.
#include "backends/cpu/tactics/reduce/reduce_common.h"

namespace tenfold::backends {

Tactic cpu_reduce_l1_blocks() { return cpu::reduce_tactic("reduce_l1_blocks", "ReduceL1"); }

}  // namespace tenfold::backends
