// IsNaN: true where an element is not a number.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_is_nan() {
  return pointwise({.name = "IsNaN",
                    .types = "float -> bool",
                    .scalar = unary_body<Prim::is_nan, Operands::floats>,
                    .onnx_since = 9,
                    .cases = {"f32[2,3,5]", "f32[4]{1,nan,inf,-2}", "f32[0,4]", "f16[7]", "f64[3,1]"}});
}

}  // namespace tenfold::ir
