// BitwiseAnd: the bits set in both.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_bitwise_and() {
  return pointwise({.name = "BitwiseAnd",
                    .min_inputs = 2, .max_inputs = 2,
                    .types = "T, T -> T; T: integer",
                    .scalar = binary_body<Prim::bit_and, Operands::integers>,
                    .onnx_since = 18,
                    .cases = {"i32[2,3,5] i32[2,3,5]", "i64[2,3] i64[3]", "u8[3,1] u8[1,4]", "u16[] u16[7]", "i8[0,4] i8[4]"}});
}

}  // namespace tenfold::ir
