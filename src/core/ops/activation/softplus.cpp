// Softplus: log(exp(x) + 1), without overflow.
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  return formula_body(node, [](Term x) { return max(x, 0.0) + log(exp(-abs(x)) + 1.0); });
}

}  // namespace

OpDef op_softplus() {
  return pointwise({.name = "Softplus",
                    .types = "T -> T; T: float",
                    .scalar = scalar,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5](-4,4)", "f32[]", "f32[0,4]", "f16[7](-4,4)", "f64[3,1](-4,4)",
                              "f32[4]{-100.0,-30.0,30.0,100.0}"}});
}

}  // namespace tenfold::ir
