// Asinh: inverse hyperbolic sine.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_asinh() {
  return pointwise({.name = "Asinh",
                    .types = "T -> T; T: float",
                    .scalar = unary_body<Prim::asinh, Operands::floats>,
                    .onnx_since = 9,
                    .cases = {"f32[2,3,5](-9,9)", "f32[]", "f32[0,4]", "f16[7]", "f64[3,1]"}});
}

}  // namespace tenfold::ir
