// What ArgMax and ArgMin share.
#pragma once

#include "ir/op_def.h"

namespace tenfold::ir {

// Among equals the first one is chosen, or with select_last_index=1 the last.
OpDef arg_reduction(std::string name, void (*reference)(Call&));
void arg_reduce(Call& call, bool largest);

}  // namespace tenfold::ir
