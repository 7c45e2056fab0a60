// Floor: the largest integer not above.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_floor() {
  return pointwise({.name = "Floor",
                    .types = "T -> T; T: float",
                    .scalar = unary_body<Prim::floor, Operands::floats>,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5](-9,9)", "f32[](-9,9)", "f32[0,4]", "f16[7](-9,9)", "f64[3,1](-9,9)"}});
}

}  // namespace tenfold::ir
