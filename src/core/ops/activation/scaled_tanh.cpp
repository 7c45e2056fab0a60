// ScaledTanh: alpha tanh(beta x), an operator of the first opsets.
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  const double alpha = static_cast<double>(node.attributes.number("alpha"));
  const double beta = static_cast<double>(node.attributes.number("beta"));
  return formula_body(node, [=](Term x) { return alpha * tanh(beta * x); });
}

}  // namespace

OpDef op_scaled_tanh() {
  return pointwise({.name = "ScaledTanh",
                    .types = "T -> T; T: float",
                    .attributes = {{"alpha", 1.0f}, {"beta", 1.0f}},
                    .scalar = scalar,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5](-4,4)", "f32[]", "f32[0,4]", "f16[7](-4,4)", "f64[3,1](-4,4)", "f32[9] alpha=0.5 beta=2.0"}});
}

}  // namespace tenfold::ir
