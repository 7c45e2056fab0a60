// The tactic that LayerNormalization and RMSNormalization share.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cpu {

Tactic norm_rows(const char* name, const char* op);

}  // namespace tenfold::backends::cpu
