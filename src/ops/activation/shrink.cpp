// Shrink: elements within [-lambd, lambd] become zero, the others move towards zero by bias.
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  const DType type = operand_type(node, Operands::numbers);
  const double bias = static_cast<double>(node.attributes.number("bias")), lambd = static_cast<double>(node.attributes.number("lambd"));
  BodyBuilder b = body_builder(node);
  // Integers are compared and moved as floats: lambd and bias are floats, and unsigned types have no -lambd.
  const Term x = cast(Term(b, 0), is_float(type) ? type : DType::f64);
  const Term result = select(x < -lambd, x + bias, select(x > lambd, x - bias, x.number(0)));
  return b.finish({cast(result, type)});
}

}  // namespace

OpDef op_shrink() {
  return pointwise({.name = "Shrink",
                    .types = "T -> T; T: number",
                    .attributes = {{"bias", 0.0f}, {"lambd", 0.5f}},
                    .scalar = scalar,
                    .onnx_since = 9,
                    .cases = {"f32[2,3,5]", "f32[2,3,5] bias=0.25 lambd=0.75", "f32[]", "f32[0,4]", "f16[7]", "f64[3,1]",
                              "i32[9] lambd=1.5 bias=1.5"}});
}

}  // namespace tenfold::ir
