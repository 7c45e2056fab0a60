// HardSigmoid: alpha x + beta, kept within [0, 1].
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  const double alpha = static_cast<double>(node.attributes.number("alpha"));
  const double beta = static_cast<double>(node.attributes.number("beta"));
  return formula_body(node, [=](Term x) { return max(min(alpha * x + beta, 1.0), 0.0); });
}

}  // namespace

OpDef op_hard_sigmoid() {
  return pointwise({.name = "HardSigmoid",
                    .types = "T -> T; T: float",
                    .attributes = {{"alpha", 0.2f}, {"beta", 0.5f}},
                    .scalar = scalar,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5](-4,4)", "f32[]", "f32[0,4]", "f16[7](-4,4)", "f64[3,1](-4,4)", "f32[9] alpha=0.5 beta=0.25"}});
}

}  // namespace tenfold::ir
