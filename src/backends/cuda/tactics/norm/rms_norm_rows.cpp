// rms_norm_rows: RMSNormalization over contiguous rows that stay in registers.
#include "backends/cuda/tactics/norm/rows_common.h"

namespace tenfold::backends {

Tactic cuda_rms_norm_rows() { return cuda::rows_tactic("rms_norm_rows", "RMSNormalization"); }

}  // namespace tenfold::backends
