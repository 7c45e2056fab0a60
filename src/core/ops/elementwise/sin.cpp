// Sin: sine.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_sin() {
  return pointwise({.name = "Sin",
                    .types = "T -> T; T: float",
                    .scalar = unary_body<Prim::sin, Operands::floats>,
                    .onnx_since = 7,
                    .cases = {"f32[2,3,5](-10,10)", "f32[]", "f32[0,4]", "f16[7]", "f64[3,1]"}});
}

}  // namespace tenfold::ir
