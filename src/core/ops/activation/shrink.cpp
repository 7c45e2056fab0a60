// Shrink: elements within [-lambd, lambd] become zero, the others move towards zero by bias.
#include <cmath>

#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

// Of 64-bit integers, which no float holds: x - bias above lambd, x + bias below -lambd. Comparisons with whole numbers tell the same.
Body long_integers(const Node& node, DType type, double bias, double lambd) {
  supported(std::trunc(bias) == bias && std::fabs(bias) < 0x1p63 && std::fabs(lambd) < 0x1p63 && (type == DType::i64 || lambd >= 0),
            "bias is ", bias, " and lambd ", lambd, ", which 64-bit integers cannot be moved by exactly");
  BodyBuilder b = body_builder(node);
  const Term x(b, 0);
  Term result = select(x > std::floor(lambd), x - bias, x.number(0));
  if (type == DType::i64) result = select(x < std::ceil(-lambd), x + bias, result);
  return b.finish({result});
}

Body scalar(const Node& node) {
  const DType type = operand_type(node, Operands::numbers);
  const double bias = static_cast<double>(node.attributes.number("bias")), lambd = static_cast<double>(node.attributes.number("lambd"));
  if (!is_float(type) && bits(type) == 64) return long_integers(node, type, bias, lambd);
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
