// rnn_block: RNN, forward, reverse and both; exotic options are left to the reference.
#include "backends/cuda/tactics/recurrent/recurrent_common.h"

namespace tenfold::backends {

Tactic cuda_rnn_block() { return cuda::recurrent_tactic("rnn_block", "RNN"); }

}  // namespace tenfold::backends
