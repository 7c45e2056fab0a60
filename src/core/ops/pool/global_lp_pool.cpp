// GlobalLpPool: the p-norm of each channel.
#include <cmath>

#include "ops/pool/pool_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.validate(call.attributes().integer("p") > 0, "p is ", call.attributes().integer("p"), ", expected a positive number");
  call.out(0, call.dtype(0), ops::infer_global_pool(call));
}

void reference(Call& call) {
  const auto p = static_cast<double>(call.attributes().integer("p"));
  ops::pool_globally(call, [p](const auto* x, std::int64_t count) {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += std::pow(std::fabs(static_cast<double>(x[i])), p);
    return std::pow(sum, 1 / p);
  });
}

}  // namespace

OpDef op_global_lp_pool() {
  return {.name = "GlobalLpPool",
          .types = "T -> T; T: float",
          .attributes = {{"p", 2}},
          .infer = infer,
          .reference = reference,
          .cases = {"f32[2,5,7,7]", "f32[1,17,3,4,5] p=1", "f32[2,3,4] p=3"}};
}

}  // namespace tenfold::ir
