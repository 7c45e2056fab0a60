// LpNormalization: divides each line along an axis by its 1- or 2-norm; a line of zeros stays zero.
#include "ops/norm/norm_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const std::int64_t p = call.attributes().integer("p");
  call.validate(p == 1 || p == 2, "p is ", p, ", expected 1 or 2");
  ops::infer_along_axis(call);
}

void reference(Call& call) {
  const bool absolute = call.attributes().integer("p") == 1;
  ops::for_each_line(call, call.attributes().integer("axis"), [absolute](auto x, auto y) {
    double sum = 0;
    for (std::int64_t i = 0; i < x.size; ++i) {
      const auto v = static_cast<double>(x[i]);
      sum += absolute ? std::fabs(v) : v * v;
    }
    const double norm = absolute ? sum : std::sqrt(sum);
    for (std::int64_t i = 0; i < x.size; ++i) {
      y[i] = static_cast<std::decay_t<decltype(y[i])>>(norm == 0 ? 0.0 : static_cast<double>(x[i]) / norm);
    }
  });
}

}  // namespace

OpDef op_lp_normalization() {
  return {.name = "LpNormalization",
          .types = "T -> T; T: float",
          .attributes = {{"axis", -1}, {"p", 2}},
          .infer = infer,
          .reference = reference,
          .onnx_since = 1,
          .cases = {"f32[2,8,16]", "f32[4,7,5] axis=1 p=1", "f32[1,3]{0,0,0}"}};
}

}  // namespace tenfold::ir
