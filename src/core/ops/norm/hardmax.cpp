// Hardmax: one at the first largest element along an axis, zero elsewhere. NaN comes before all numbers, as in ArgMax.
#include <cmath>

#include "ops/norm/norm_common.h"

namespace tenfold::ir {
namespace {

void reference(Call& call) {
  ops::for_each_line(call, call.attributes().integer("axis"), [](auto x, auto y) {
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < x.size; ++i) {
      if (x[i] > x[best] || (std::isnan(x[i]) && !std::isnan(x[best]))) best = i;
    }
    for (std::int64_t i = 0; i < x.size; ++i) y[i] = i == best ? 1 : 0;
  });
}

}  // namespace

OpDef op_hardmax() {
  return {.name = "Hardmax",
          .types = "T -> T; T: float",
          .attributes = {{"axis", -1}},
          .infer = ops::infer_along_axis,
          .reference = reference,
          .cases = {"f32[2,8,16]", "f32[4,7,5] axis=1", "f32[3,4] axis=0"}};
}

}  // namespace tenfold::ir
