// Exp: e to the power of each element.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_exp() {
  return pointwise({.name = "Exp",
                    .types = "T -> T; T: float",
                    .scalar = unary_body<Prim::exp, Operands::floats>,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5](-10,10)", "f32[]", "f32[0,4]", "f16[7]", "f64[3,1]"}});
}

}  // namespace tenfold::ir
