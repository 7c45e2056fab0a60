// Where: elements of the second operand where the condition is true, of the third elsewhere.
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  operand_type(node, Operands::any, 1);
  BodyBuilder b = body_builder(node);
  validate(b.type_of(0) == DType::boolean, "the condition is ", name(b.type_of(0)), ", bool expected");
  return b.finish({b.select(0, 1, 2)});
}

}  // namespace

OpDef op_where() {
  return pointwise({.name = "Where",
                    .min_inputs = 3, .max_inputs = 3,
                    .types = "bool, T, T -> T; T: dense",
                    .scalar = scalar,
                    .onnx_since = 9,
                    .cases = {"bool[2,3,5] f32[2,3,5] f32[2,3,5]", "bool[5] f32[2,3,5] f32[]", "bool[3,1] i64[1,4] i64[3,4]",
                              "bool[] f16[7] f16[7]", "bool[0,4] f32[4] f32[4]", "bool[4] u8[] u8[4]", "bool[4] bool[4] bool[]",
                              "bool[3] f64[2,1] f64[3]"}});
}

}  // namespace tenfold::ir
