// Gelu: x times the normal distribution function of x, exact or by its usual approximation with tanh.
#include <cmath>

#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  const std::string& approximate = node.attributes.string("approximate");
  validate(approximate == "none" || approximate == "tanh", "approximate is '", approximate, "', none or tanh expected");
  if (approximate == "tanh") {
    const double scale = std::sqrt(2 / M_PI);
    return formula_body(node, [=](Term x) { return 0.5 * x * (1.0 + tanh(scale * (x + 0.044715 * (x * x * x)))); });
  }
  return formula_body(node, [](Term x) { return 0.5 * x * (1.0 + erf(x * M_SQRT1_2)); });
}

}  // namespace

OpDef op_gelu() {
  return pointwise({.name = "Gelu",
                    .types = "T -> T; T: float",
                    .attributes = {{"approximate", "none"}},
                    .scalar = scalar,
                    .onnx_since = 20,
                    .cases = {"f32[2,3,5](-4,4)", "f32[]", "f32[0,4]", "f16[7](-4,4)", "f64[3,1](-4,4)",
                              "f32[2,3,5](-4,4) approximate=\"tanh\"", "f16[7](-4,4) approximate=\"tanh\""}});
}

}  // namespace tenfold::ir
