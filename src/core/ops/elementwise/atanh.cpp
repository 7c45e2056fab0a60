// Atanh: inverse hyperbolic tangent, within (-1, 1).
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_atanh() {
  return pointwise({.name = "Atanh",
                    .types = "T -> T; T: float",
                    .scalar = unary_body<Prim::atanh, Operands::floats>,
                    .onnx_since = 9,
                    .cases = {"f32[2,3,5](-0.9,0.9)", "f32[](-0.9,0.9)", "f32[0,4]", "f16[7](-0.9,0.9)", "f64[3,1](-0.9,0.9)"}});
}

}  // namespace tenfold::ir
