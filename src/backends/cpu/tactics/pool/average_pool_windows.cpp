// average_pool_windows: AveragePool in one to three dims, over channels in vectors (channels-last) or along output rows (plain).
#include "backends/cpu/tactics/pool/pool_common.h"

namespace tenfold::backends {

Tactic cpu_average_pool_windows() { return cpu::pool_tactic("average_pool_windows", "AveragePool"); }

}  // namespace tenfold::backends
