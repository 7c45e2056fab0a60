// Sinh: hyperbolic sine.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_sinh() {
  return pointwise({.name = "Sinh",
                    .types = "T -> T; T: float",
                    .scalar = unary_body<Prim::sinh, Operands::floats>,
                    .onnx_since = 9,
                    .cases = {"f32[2,3,5](-4,4)", "f32[]", "f32[0,4]", "f16[7]", "f64[3,1]"}});
}

}  // namespace tenfold::ir
