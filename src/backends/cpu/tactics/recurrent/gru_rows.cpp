// gru_rows: GRU with packed constant weights, forward, reverse and both; exotic options are left to the reference.
#include "backends/cpu/tactics/recurrent/recurrent_common.h"

namespace tenfold::backends {

Tactic cpu_gru_rows() { return cpu::recurrent_tactic("gru_rows", "GRU"); }

}  // namespace tenfold::backends
