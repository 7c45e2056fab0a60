// What ArgMax and ArgMin share.
#pragma once

#include "ir/op_def.h"

namespace tenfold::ir {

// `is_better(a, b)`: a is to be chosen over b. Among equals the first one is chosen, or with select_last_index=1 the last.
OpDef arg_reduction(std::string name, void (*reference)(Call&));
void arg_reduce(Call& call, bool (*is_better)(double a, double b));

}  // namespace tenfold::ir
