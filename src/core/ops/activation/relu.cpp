// Relu: the positive part.
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  operand_type(node, Operands::numbers);
  BodyBuilder b = body_builder(node);
  return b.finish({max(Term(b, 0), 0.0)});
}

}  // namespace

OpDef op_relu() {
  return pointwise({.name = "Relu",
                    .types = "T -> T; T: number",
                    .scalar = scalar,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5]", "f32[]", "f32[0,4]", "f16[7]", "f64[3,1]", "i32[9]", "i8[5]", "f32[3]{-1.0,nan,2.0}"}});
}

}  // namespace tenfold::ir
