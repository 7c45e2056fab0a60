// Elu: x, or alpha (exp(x) - 1) below zero.
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  const double alpha = static_cast<double>(node.attributes.number("alpha"));
  return formula_body(node, [=](Term x) { return select(x < 0.0, alpha * (exp(x) - 1.0), x); });
}

}  // namespace

OpDef op_elu() {
  return pointwise({.name = "Elu",
                    .types = "T -> T; T: float",
                    .attributes = {{"alpha", 1.0f}},
                    .scalar = scalar,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5](-4,4)", "f32[]", "f32[0,4]", "f16[7](-4,4)", "f64[3,1](-4,4)", "f32[9] alpha=0.5"}});
}

}  // namespace tenfold::ir
