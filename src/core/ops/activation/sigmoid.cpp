// Sigmoid: 1 / (1 + exp(-x)), without overflow.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_sigmoid() {
  return pointwise({.name = "Sigmoid",
                    .types = "T -> T; T: float",
                    .scalar = unary_body<Prim::sigmoid, Operands::floats>,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5](-10,10)", "f32[]", "f32[0,4]", "f16[7](-4,4)", "f64[3,1](-30,30)"}});
}

}  // namespace tenfold::ir
