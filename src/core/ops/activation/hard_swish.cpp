// HardSwish: x times (x / 6 + 1/2), the latter kept within [0, 1].
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  return formula_body(node, [](Term x) { return x * max(min(x / 6.0 + 0.5, 1.0), 0.0); });
}

}  // namespace

OpDef op_hard_swish() {
  return pointwise({.name = "HardSwish",
                    .types = "T -> T; T: float",
                    .scalar = scalar,
                    .onnx_since = 14,
                    .cases = {"f32[2,3,5](-4,4)", "f32[]", "f32[0,4]", "f16[7](-4,4)", "f64[3,1](-4,4)"}});
}

}  // namespace tenfold::ir
