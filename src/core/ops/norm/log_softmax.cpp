// LogSoftmax: the logarithm of the softmax along an axis.
#include <algorithm>

#include "ops/norm/norm_common.h"

namespace tenfold::ir {
namespace {

void reference(Call& call) {
  ops::for_each_line(call, call.attributes().integer("axis"), [](auto x, auto y) {
    double largest = -INFINITY, sum = 0;
    for (std::int64_t i = 0; i < x.size; ++i) largest = std::max(largest, static_cast<double>(x[i]));
    for (std::int64_t i = 0; i < x.size; ++i) sum += std::exp(static_cast<double>(x[i]) - largest);
    const double shift = largest + std::log(sum);
    for (std::int64_t i = 0; i < x.size; ++i) y[i] = static_cast<std::decay_t<decltype(y[i])>>(static_cast<double>(x[i]) - shift);
  });
}

}  // namespace

OpDef op_log_softmax() {
  return {.name = "LogSoftmax",
          .types = "T -> T; T: float",
          .attributes = {{"axis", -1}},
          .infer = ops::infer_along_axis,
          .reference = reference,
          .traits = {.permission = {.fast_exp = true}, .narrows = true},
          .cases = {"f32[2,8,16]", "f32[3,100](-20,20)", "f32[4,7,5] axis=1", "f16[1,1,3] axis=0"}};
}

}  // namespace tenfold::ir
