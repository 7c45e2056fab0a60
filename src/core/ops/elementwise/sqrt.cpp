// Sqrt: square root.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_sqrt() {
  return pointwise({.name = "Sqrt",
                    .types = "T -> T; T: float",
                    .scalar = unary_body<Prim::sqrt, Operands::floats>,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5](0,9)", "f32[](0,9)", "f32[0,4]", "f16[7](0,9)", "f64[3,1](0,9)"}});
}

}  // namespace tenfold::ir
