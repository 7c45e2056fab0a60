// rms_norm_rows: RMSNormalization over contiguous rows; an epilogue runs on a few rows while they are in cache.
#include "backends/cpu/tactics/norm/norm_rows_common.h"

namespace tenfold::backends {

Tactic cpu_rms_norm_rows() { return cpu::norm_rows("rms_norm_rows", "RMSNormalization"); }

}  // namespace tenfold::backends
