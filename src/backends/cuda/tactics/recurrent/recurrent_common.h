// The tactic that RNN, LSTM and GRU share: a block for each sample and direction walks through all steps.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

Tactic recurrent_tactic(const char* name, const char* op);

}  // namespace tenfold::backends::cuda
