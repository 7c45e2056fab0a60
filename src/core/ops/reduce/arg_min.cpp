// ArgMin: the index of the least element along one axis.
#include "ops/reduce/arg_common.h"

namespace tenfold::ir {
namespace {

void reference(Call& call) {
  arg_reduce(call, false);
}

}  // namespace

OpDef op_arg_min() { return arg_reduction("ArgMin", reference); }

}  // namespace tenfold::ir
