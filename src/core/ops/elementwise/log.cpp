// Log: natural logarithm.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_log() {
  return pointwise({.name = "Log",
                    .types = "T -> T; T: float",
                    .scalar = unary_body<Prim::log, Operands::floats>,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5](0.01,20)", "f32[](0.5,2)", "f32[0,4]", "f16[7](0.1,9)", "f64[3,1](0.1,9)"}});
}

}  // namespace tenfold::ir
