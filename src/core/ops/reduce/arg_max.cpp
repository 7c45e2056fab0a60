// ArgMax: the index of the largest element along one axis.
#include "ops/reduce/arg_common.h"

namespace tenfold::ir {
namespace {

void reference(Call& call) {
  arg_reduce(call, true);
}

}  // namespace

OpDef op_arg_max() { return arg_reduction("ArgMax", reference); }

}  // namespace tenfold::ir
