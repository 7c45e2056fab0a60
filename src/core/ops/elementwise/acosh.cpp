// Acosh: inverse hyperbolic cosine, from 1 on.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_acosh() {
  return pointwise({.name = "Acosh",
                    .types = "T -> T; T: float",
                    .scalar = unary_body<Prim::acosh, Operands::floats>,
                    .onnx_since = 9,
                    .cases = {"f32[2,3,5](1,9)", "f32[](1,9)", "f32[0,4]", "f16[7](1,9)", "f64[3,1](1,9)"}});
}

}  // namespace tenfold::ir
