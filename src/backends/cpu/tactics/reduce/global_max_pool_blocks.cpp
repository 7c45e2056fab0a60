// global_max_pool_blocks: GlobalMaxPool of f32 over any axes, in rows or in vectors of columns.
#include "backends/cpu/tactics/reduce/reduce_common.h"

namespace tenfold::backends {

Tactic cpu_global_max_pool_blocks() { return cpu::reduce_tactic("global_max_pool_blocks", "GlobalMaxPool"); }

}  // namespace tenfold::backends
