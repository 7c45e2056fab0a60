// Mod: the remainder of a / b, with the sign of b (as in Python), or with fmod=1 the sign of a (as in C).
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  operand_type(node, Operands::numbers);
  BodyBuilder b = body_builder(node);
  return b.finish({b.binary(node.attributes.integer("fmod") != 0 ? Prim::fmod : Prim::mod, 0, 1)});
}

}  // namespace

OpDef op_mod() {
  return pointwise({.name = "Mod",
                    .min_inputs = 2, .max_inputs = 2,
                    .types = "T, T -> T; T: number",
                    .attributes = {{"fmod", 0}},
                    .scalar = scalar,
                    .onnx_since = 10,
                    .cases = {"i64[4,3](-20,20) i64[3](1,7)", "i32[4]{7,-7,7,-7} i32[4]{3,3,-3,-3}",
                              "i32[4]{7,-7,7,-7} i32[4]{3,3,-3,-3} fmod=1", "f32[2,3,5](-9,9) f32[5](1,3) fmod=1",
                              "u8[3,1] u8[1,4](1,9)", "f16[7](-9,9) f16[](1,3) fmod=1", "i8[0,4] i8[4]"}});
}

}  // namespace tenfold::ir
