// Operators on lines along an axis, of any length (codegen/norm/lines.h): softmax and normalisations that rows_common refuses, and others.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

Tactic lines_tactic(const char* name, const char* op);

}  // namespace tenfold::backends::cuda
