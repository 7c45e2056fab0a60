// MaxPool and AveragePool in either layout, several results a thread.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

Tactic pool_strips_tactic(const char* name, const char* op);

}  // namespace tenfold::backends::cuda
