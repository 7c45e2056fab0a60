// The tactic that MaxPool and AveragePool share.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cpu {

Tactic pool_tactic(const char* name, const char* op);

}  // namespace tenfold::backends::cpu
