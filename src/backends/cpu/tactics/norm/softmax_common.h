// The tactic that Softmax and LogSoftmax share.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cpu {

Tactic softmax_tactic(const char* name, const char* op);

}  // namespace tenfold::backends::cpu
