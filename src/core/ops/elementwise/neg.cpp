// Neg: opposite sign.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_neg() {
  return pointwise({.name = "Neg",
                    .types = "T -> T; T: number",
                    .scalar = unary_body<Prim::neg, Operands::numbers>,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5]", "f32[]", "f32[0,4]", "f16[7]", "i64[9]", "i32[2,1,3]"}});
}

}  // namespace tenfold::ir
