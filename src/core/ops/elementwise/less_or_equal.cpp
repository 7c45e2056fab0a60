// LessOrEqual: a <= b.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_less_or_equal() {
  return pointwise({.name = "LessOrEqual",
                    .min_inputs = 2, .max_inputs = 2,
                    .types = "T, T -> bool; T: number",
                    .scalar = binary_body<Prim::le, Operands::numbers>,
                    .onnx_since = 12,
                    .cases = {"f32[2,3,5] f32[5]", "f32[3]{1,2,nan} f32[3]{1,1,nan}", "f32[] f32[7]", "f32[0,4] f32[4]",
                              "i64[4,3](0,2) i64[3](0,2)", "f16[5] f16[5]", "u8[3,1] u8[1,4]"}});
}

}  // namespace tenfold::ir
