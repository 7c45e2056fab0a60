// Min: the least of any number of operands; NaN wins.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_min() {
  return pointwise({.name = "Min",
                    .max_inputs = -1,
                    .types = "T... -> T; T: number",
                    .scalar = variadic_body<Prim::min, Operands::numbers>,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5] f32[5]", "f32[3,1] f32[1,4] f32[]", "f32[7]", "f32[0,4] f32[4]", "f16[5] f16[5]",
                              "i64[4,3] i64[3] i64[]", "f32[2]{1,nan} f32[2]{nan,2}", "u8[5] u8[5]"}});
}

}  // namespace tenfold::ir
