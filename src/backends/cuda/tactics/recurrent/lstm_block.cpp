// lstm_block: LSTM, forward, reverse and both; exotic options are left to the reference.
#include "backends/cuda/tactics/recurrent/recurrent_common.h"

namespace tenfold::backends {

Tactic cuda_lstm_block() { return cuda::recurrent_tactic("lstm_block", "LSTM"); }

}  // namespace tenfold::backends
