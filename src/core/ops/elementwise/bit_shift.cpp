// BitShift: bits moved left or right; beyond the type's width nothing is left.
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  operand_type(node, Operands::unsigned_integers);
  const std::string& direction = node.attributes.string("direction");
  validate(direction == "LEFT" || direction == "RIGHT", "direction is '", direction, "', LEFT or RIGHT expected");
  BodyBuilder b = body_builder(node);
  return b.finish({b.binary(direction == "LEFT" ? Prim::shift_left : Prim::shift_right, 0, 1)});
}

}  // namespace

OpDef op_bit_shift() {
  return pointwise({.name = "BitShift",
                    .min_inputs = 2, .max_inputs = 2,
                    .types = "T, T -> T; T: uint",
                    .optional_attributes = "direction: string",
                    .scalar = scalar,
                    .onnx_since = 11,
                    .cases = {"u8[2,3,5] u8[5](0,9) direction=\"LEFT\"", "u32[3,1] u32[1,4](0,4) direction=\"RIGHT\"",
                              "u64[3] u64[](0,3) direction=\"LEFT\"", "u16[0,4] u16[4] direction=\"RIGHT\""}});
}

}  // namespace tenfold::ir
