// Tanh: hyperbolic tangent.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_tanh() {
  return pointwise({.name = "Tanh",
                    .types = "T -> T; T: float",
                    .scalar = unary_body<Prim::tanh, Operands::floats>,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5](-5,5)", "f32[]", "f32[0,4]", "f16[7](-4,4)", "f64[3,1](-5,5)"}});
}

}  // namespace tenfold::ir
