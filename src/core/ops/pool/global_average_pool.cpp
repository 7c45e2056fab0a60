// GlobalAveragePool: the mean of each channel.
#include "ops/pool/pool_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) { call.out(0, call.dtype(0), ops::infer_global_pool(call)); }

void reference(Call& call) {
  ops::pool_globally(call, [](const auto* x, std::int64_t count) {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]);
    return sum / static_cast<double>(count);
  });
}

}  // namespace

OpDef op_global_average_pool() {
  return {.name = "GlobalAveragePool",
          .types = "T -> T; T: float",
          .infer = infer,
          .reference = reference,
          .traits = {.reduction = ReductionKind::mean, .narrows = true},
          .onnx_since = 1,
          .cases = {"f32[2,5,7,7]", "f32[1,17,3,4,5]", "f32[2,3,1]", "f16[1,8,4,4]",
                    "bf16[2,37,7,7]"}};
}

}  // namespace tenfold::ir
