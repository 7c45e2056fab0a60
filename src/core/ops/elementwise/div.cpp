// Div: a / b; integers truncate towards zero.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_div() {
  return pointwise({.name = "Div",
                    .min_inputs = 2, .max_inputs = 2,
                    .types = "T, T -> T; T: number",
                    .scalar = binary_body<Prim::div, Operands::numbers>,
                    .cases = {"f32[2,3,5] f32[2,3,5](0.5,2)", "f32[2,3,5] f32[5](0.5,2)", "f32[3,1] f32[1,4](-2,-0.5)",
                              "f32[] f32[7](1,3)", "f32[0,4] f32[4]", "i64[4,3](-20,20) i64[3](1,7)",
                              "i32[4]{7,-7,7,-7} i32[4]{2,2,-2,-2}", "f16[5] f16[5](1,2)", "u8[5] u8[5](1,9)"}});
}

}  // namespace tenfold::ir
