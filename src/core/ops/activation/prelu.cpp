// PRelu: x, or slope x below zero; the slope is broadcast to x.
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  operand_type(node, Operands::numbers);
  BodyBuilder b = body_builder(node);
  const Term x(b, 0), slope(b, 1);
  return b.finish({select(x < 0.0, slope * x, x)});
}

}  // namespace

OpDef op_prelu() {
  return pointwise({.name = "PRelu",
                    .min_inputs = 2, .max_inputs = 2,
                    .types = "T, T -> T; T: number",
                    .scalar = scalar,
                    .cases = {"f32[2,3,5] f32[3,1]", "f32[2,3,5] f32[]", "f32[2,3,5] f32[2,3,5]", "f32[0,4] f32[4]", "f16[7] f16[1]",
                              "f64[3,2] f64[2]", "i32[5] i32[5]"}});
}

}  // namespace tenfold::ir
