// And: both are true.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_and() {
  return pointwise({.name = "And",
                    .min_inputs = 2, .max_inputs = 2,
                    .types = "bool, bool -> bool",
                    .scalar = binary_body<Prim::logical_and, Operands::booleans>,
                    .cases = {"bool[2,3,5] bool[2,3,5]", "bool[2,3,5] bool[5]", "bool[3,1] bool[1,4]", "bool[] bool[7]",
                              "bool[0,4] bool[4]"}});
}

}  // namespace tenfold::ir
