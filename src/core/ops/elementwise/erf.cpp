// Erf: the error function.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_erf() {
  return pointwise({.name = "Erf",
                    .types = "T -> T; T: float",
                    .scalar = unary_body<Prim::erf, Operands::floats>,
                    .onnx_since = 9,
                    .cases = {"f32[2,3,5](-4,4)", "f32[]", "f32[0,4]", "f16[7](-2,2)", "f64[3,1]"}});
}

}  // namespace tenfold::ir
