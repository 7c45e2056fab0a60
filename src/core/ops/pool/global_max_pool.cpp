// GlobalMaxPool: the largest element of each channel.
#include "ops/pool/pool_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) { call.out(0, call.dtype(0), ops::infer_global_pool(call)); }

void reference(Call& call) {
  call.check_shape(call.in[0].size() > 0 || call.out[0].size() == 0, "the largest element of an empty channel");
  ops::pool_globally(call, [](const auto* x, std::int64_t count) {
    auto best = *x;
    for (std::int64_t i = 1; i < count; ++i)
      if (x[i] > best || (x[i] != x[i] && best == best)) best = x[i];   // NaN stays, as in Max
    return best;
  });
}

}  // namespace

OpDef op_global_max_pool() {
  return {.name = "GlobalMaxPool",
          .types = "T -> T; T: number",
          .infer = infer,
          .reference = reference,
          .traits = {.reduction = ReductionKind::max, .narrows = true},
          .onnx_since = 1,
          .cases = {"f32[2,5,7,7]", "f32[1,17,3,4,5]", "f32[2,3,1]",
                    "bf16[2,37,7,7]"}};
}

}  // namespace tenfold::ir
