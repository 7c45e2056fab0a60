// gru_block: GRU, forward, reverse and both; exotic options are left to the reference.
#include "backends/cuda/tactics/recurrent/recurrent_common.h"

namespace tenfold::backends {

Tactic cuda_gru_block() { return cuda::recurrent_tactic("gru_block", "GRU"); }

}  // namespace tenfold::backends
