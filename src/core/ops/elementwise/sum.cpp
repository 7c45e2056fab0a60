// Sum: the sum of any number of operands.
#include "ops/pointwise_common.h"

namespace tenfold::ir {

OpDef op_sum() {
  return pointwise({.name = "Sum",
                    .max_inputs = -1,
                    .types = "T... -> T; T: float",
                    .scalar = variadic_body<Prim::add, Operands::floats>,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5] f32[5]", "f32[3,1] f32[1,4] f32[]", "f32[7]", "f32[0,4] f32[4]", "f16[5] f16[5]",
                              "f64[2,1] f64[2,2] f64[2]"}});
}

}  // namespace tenfold::ir
