// The tactic that the reductions and global poolings share.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cpu {

Tactic reduce_tactic(const char* name, const char* op);

}  // namespace tenfold::backends::cpu
