// reduce_sum_square_blocks: ReduceSumSquare of f32 over any axes, in rows or in vectors of columns.
#include "backends/cpu/tactics/reduce/reduce_common.h"

namespace tenfold::backends {

Tactic cpu_reduce_sum_square_blocks() { return cpu::reduce_tactic("reduce_sum_square_blocks", "ReduceSumSquare"); }

}  // namespace tenfold::backends
