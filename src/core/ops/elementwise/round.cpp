// Round: the nearest integer, halves to even.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_round() {
  return pointwise({.name = "Round",
                    .types = "T -> T; T: float",
                    .scalar = unary_body<Prim::round_even, Operands::floats>,
                    .onnx_since = 11,
                    .cases = {"f32[2,3,5](-9,9)", "f32[6]{-2.5,-1.5,-0.5,0.5,1.5,2.5}", "f32[0,4]", "f16[7](-9,9)", "f64[3,1](-9,9)"}});
}

}  // namespace tenfold::ir
