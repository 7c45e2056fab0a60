// The tactic that InstanceNormalization and GroupNormalization share.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cpu {

Tactic group_norm_tactic(const char* name, const char* op);

}  // namespace tenfold::backends::cpu
