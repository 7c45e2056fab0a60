// What the operators that change the element type share.
#pragma once

#include "ir/op_def.h"

namespace tenfold::ir {

// The type that `to` names; throws for unknown types and strings.
DType cast_target(const Attributes& attributes);

}  // namespace tenfold::ir
