// Sign: -1, 0 or 1.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_sign() {
  return pointwise({.name = "Sign",
                    .types = "T -> T; T: number",
                    .scalar = unary_body<Prim::sign, Operands::numbers>,
                    .onnx_since = 9,
                    .cases = {"f32[2,3,5]", "f32[4]{-0.5,0,2,-3}", "f32[0,4]", "f16[7]", "i64[9]", "u8[6]"}});
}

}  // namespace tenfold::ir
