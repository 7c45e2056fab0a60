// Not: logical negation.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_not() {
  return pointwise({.name = "Not",
                    .types = "bool -> bool",
                    .scalar = unary_body<Prim::logical_not, Operands::booleans>,
                    .onnx_since = 1,
                    .cases = {"bool[2,3,5]", "bool[]", "bool[0,4]"}});
}

}  // namespace tenfold::ir
