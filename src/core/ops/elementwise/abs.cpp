// Abs: magnitude; the least signed integer keeps its sign.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_abs() {
  return pointwise({.name = "Abs",
                    .types = "T -> T; T: number",
                    .scalar = unary_body<Prim::abs, Operands::numbers>,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5]", "f32[]", "f32[0,4]", "f16[7]", "f64[3,1]", "i64[9]", "i8[5]{-128,-1,0,1,127}", "u8[6]"}});
}

}  // namespace tenfold::ir
