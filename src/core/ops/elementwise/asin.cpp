// Asin: inverse sine.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_asin() {
  return pointwise({.name = "Asin",
                    .types = "T -> T; T: float",
                    .scalar = unary_body<Prim::asin, Operands::floats>,
                    .onnx_since = 7,
                    .cases = {"f32[2,3,5]", "f32[]", "f32[0,4]", "f16[7]", "f64[3,1]"}});
}

}  // namespace tenfold::ir
