// Reciprocal: one divided by each element.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_reciprocal() {
  return pointwise({.name = "Reciprocal",
                    .types = "T -> T; T: float",
                    .scalar = unary_body<Prim::reciprocal, Operands::floats>,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5](0.1,9)", "f32[](-2,-1)", "f32[0,4]", "f16[7](0.5,9)", "f64[3,1](0.1,9)"}});
}

}  // namespace tenfold::ir
