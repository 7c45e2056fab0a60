// Softsign: x / (1 + |x|).
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  return formula_body(node, [](Term x) { return x / (abs(x) + 1.0); });
}

}  // namespace

OpDef op_softsign() {
  return pointwise({.name = "Softsign",
                    .types = "T -> T; T: float",
                    .scalar = scalar,
                    .onnx_since = 1,
                    .cases = {"f32[2,3,5](-4,4)", "f32[]", "f32[0,4]", "f16[7](-4,4)", "f64[3,1](-4,4)"}});
}

}  // namespace tenfold::ir
