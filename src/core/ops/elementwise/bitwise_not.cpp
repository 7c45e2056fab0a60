// BitwiseNot: every bit inverted.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_bitwise_not() {
  return pointwise({.name = "BitwiseNot",
                    .types = "T -> T; T: integer",
                    .scalar = unary_body<Prim::bit_not, Operands::integers>,
                    .onnx_since = 18,
                    .cases = {"i32[2,3,5]", "u8[]", "i64[0,4]", "u16[7]", "i8[3]"}});
}

}  // namespace tenfold::ir
