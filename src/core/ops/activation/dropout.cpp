// Dropout: outside of training its operand unchanged, and a mask that keeps everything.
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  operand_type(node, Operands::floats);
  BodyBuilder b = body_builder(node);
  return b.finish({0, b.constant(DType::boolean, 1)});
}

}  // namespace

OpDef op_dropout() {
  return pointwise({.name = "Dropout",
                    .max_outputs = 2,
                    .types = "T -> T, bool; T: float",
                    .scalar = scalar,
                    .cases = {"f32[2,3,5] outputs=2", "f32[]", "f16[0,4] outputs=2"}});
}

}  // namespace tenfold::ir
