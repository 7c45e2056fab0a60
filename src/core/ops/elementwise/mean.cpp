// Mean: the average of any number of operands.
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  operand_type(node, Operands::floats);
  BodyBuilder b = body_builder(node);
  Term sum(b, 0);
  for (std::uint16_t i = 1; i < node.inputs.size(); ++i) sum = sum + Term(b, i);
  return b.finish({sum / static_cast<double>(node.inputs.size())});
}

}  // namespace

OpDef op_mean() {
  return pointwise({.name = "Mean",
                    .max_inputs = -1,
                    .types = "T... -> T; T: float",
                    .scalar = scalar,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5] f32[5]", "f32[3,1] f32[1,4] f32[]", "f32[7]", "f32[0,4] f32[4]", "f16[5] f16[5]",
                              "f64[2,1] f64[2,2] f64[2]"}});
}

}  // namespace tenfold::ir
