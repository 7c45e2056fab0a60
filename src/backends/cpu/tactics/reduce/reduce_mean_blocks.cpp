// reduce_mean_blocks: ReduceMean of f32 over any axes, in rows or in vectors of columns.
#include "backends/cpu/tactics/reduce/reduce_common.h"

namespace tenfold::backends {

Tactic cpu_reduce_mean_blocks() { return cpu::reduce_tactic("reduce_mean_blocks", "ReduceMean"); }

}  // namespace tenfold::backends
