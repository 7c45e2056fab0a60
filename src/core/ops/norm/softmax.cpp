// Softmax: exponentials along an axis, scaled to sum to one.
#include <algorithm>

#include "ops/norm/norm_common.h"

namespace tenfold::ir {
namespace {

void reference(Call& call) {
  ops::for_each_line(call, call.attributes().integer("axis"), [](auto x, auto y) {
    double largest = -INFINITY, sum = 0;
    for (std::int64_t i = 0; i < x.size; ++i) largest = std::max(largest, static_cast<double>(x[i]));
    for (std::int64_t i = 0; i < x.size; ++i) sum += std::exp(static_cast<double>(x[i]) - largest);
    for (std::int64_t i = 0; i < x.size; ++i) {
      y[i] = static_cast<std::decay_t<decltype(y[i])>>(std::exp(static_cast<double>(x[i]) - largest) / sum);
    }
  });
}

}  // namespace

OpDef op_softmax() {
  return {
      .name = "Softmax",
      .types = "T -> T; T: float",
      .attributes = {{"axis", -1}},
      .infer = ops::infer_along_axis,
      .reference = reference,
      .traits = {.permission = {.fast_exp = true}, .narrows = true},
      .cases = {"f32[2,8,16]", "f32[3,1000](-20,20)", "f32[4,7,5] axis=1", "f16[1,1,3] axis=0", "f32[4,0,5] axis=1", "f64[2,3] axis=-2"}};
}

}  // namespace tenfold::ir
