// Selu: gamma x, or gamma alpha (exp(x) - 1) up to zero.
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  const double alpha = static_cast<double>(node.attributes.number("alpha"));
  const double gamma = static_cast<double>(node.attributes.number("gamma"));
  return formula_body(node, [=](Term x) { return gamma * select(x > 0.0, x, alpha * (exp(x) - 1.0)); });
}

}  // namespace

OpDef op_selu() {
  return pointwise({.name = "Selu",
                    .types = "T -> T; T: float",
                    .attributes = {{"alpha", 1.67326319217681884765625f}, {"gamma", 1.05070102214813232421875f}},
                    .scalar = scalar,
                    .cases = {"f32[2,3,5](-4,4)", "f32[]", "f32[0,4]", "f16[7](-4,4)", "f64[3,1](-4,4)", "f32[9] alpha=0.5 gamma=2.0"}});
}

}  // namespace tenfold::ir
