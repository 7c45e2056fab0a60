// global_average_pool_blocks: GlobalAveragePool of f32 over any axes, in rows or in vectors of columns.
#include "backends/cpu/tactics/reduce/reduce_common.h"

namespace tenfold::backends {

Tactic cpu_global_average_pool_blocks() { return cpu::reduce_tactic("global_average_pool_blocks", "GlobalAveragePool"); }

}  // namespace tenfold::backends
