// lstm_rows: LSTM with packed constant weights, forward, reverse and both; exotic options are left to the reference.
#include "backends/cpu/tactics/recurrent/recurrent_common.h"

namespace tenfold::backends {

Tactic cpu_lstm_rows() { return cpu::recurrent_tactic("lstm_rows", "LSTM"); }

}  // namespace tenfold::backends
