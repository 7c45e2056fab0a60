// Ceil: the least integer not below.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_ceil() {
  return pointwise({.name = "Ceil",
                    .types = "T -> T; T: float",
                    .scalar = unary_body<Prim::ceil, Operands::floats>,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5](-9,9)", "f32[](-9,9)", "f32[0,4]", "f16[7](-9,9)", "f64[3,1](-9,9)"}});
}

}  // namespace tenfold::ir
