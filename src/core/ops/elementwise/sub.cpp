// Sub: a - b; integers wrap.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_sub() {
  return pointwise({.name = "Sub",
                    .min_inputs = 2, .max_inputs = 2,
                    .types = "T, T -> T; T: number",
                    .scalar = binary_body<Prim::sub, Operands::numbers>,
                    .cases = {"f32[2,3,5] f32[2,3,5]", "f32[2,3,5] f32[5]", "f32[3,1] f32[1,4]", "f32[] f32[7]", "f32[0,4] f32[4]",
                              "i64[4,3] i64[3]", "f16[5] f16[5]", "f64[2,1,3] f64[4,1]", "u8[3]{0,1,2} u8[]{1}"}});
}

}  // namespace tenfold::ir
