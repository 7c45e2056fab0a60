// The tactic that LSTM and GRU share: packed panels, one product over all steps for the input, then step by step for the state.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cpu {

Tactic recurrent_tactic(const char* name, const char* op);

}  // namespace tenfold::backends::cpu
