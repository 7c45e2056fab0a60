// MaxPool and AveragePool in either layout.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

Tactic pool_tactic(const char* name, const char* op);

}  // namespace tenfold::backends::cuda
