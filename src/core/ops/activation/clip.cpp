// Clip: elements kept within optional scalar bounds; where the bounds cross, the upper one wins.
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  operand_type(node, Operands::numbers);
  for (int i = 1; i < 3; ++i) {
    const Value* bound = node.in(i);
    check_shape(!bound || bound->rank() == 0 || (bound->rank() == 1 && bound->dims()[0] == Dim(1)), "bound ", i, " is not a scalar");
  }
  BodyBuilder b = body_builder(node);
  Term x(b, 0);
  std::uint16_t next = 1;
  if (node.in(1)) x = max(x, Term(b, next++));
  if (node.in(2)) x = min(x, Term(b, next++));
  return b.finish({x});
}

}  // namespace

OpDef op_clip() {
  return pointwise({.name = "Clip",
                    .min_inputs = 1, .max_inputs = 3,
                    .types = "T, T, T -> T; T: number",
                    .scalar = scalar,
                    .cases = {"f32[2,3,5] f32[]{-0.5} f32[]{0.5}", "f32[2,3,5] _ f32[]{0.25}", "f32[2,3,5] f32[]{0.0}", "f32[7]",
                              "f32[0,4] f32[]{0.0} f32[]{6.0}", "f32[7] f32[]{0.5} f32[]{-0.5}", "f16[7] f16[]{0.0} f16[]{6.0}",
                              "i64[9] i64[]{-3} i64[]{4}", "u8[5] u8[]{3} u8[]{9}", "f64[3,1] f64[]{-0.5} f64[]{0.5}"}});
}

}  // namespace tenfold::ir
