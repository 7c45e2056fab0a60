// max_pool_windows: MaxPool in one to three dims, over channels in vectors (channels-last) or along output rows (plain).
#include "backends/cpu/tactics/pool/pool_common.h"

namespace tenfold::backends {

Tactic cpu_max_pool_windows() { return cpu::pool_tactic("max_pool_windows", "MaxPool"); }

}  // namespace tenfold::backends
