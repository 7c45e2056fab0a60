// InstanceNormalization: zero mean and unit variance for each channel of each sample, then scale and bias by channel.
#include "ops/norm/norm_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.check_shape(call.rank(0) >= 2, "the input has rank ", call.rank(0), ", expected batch, channels and spatial dims");
  ops::need_per_channel(call, 1, "scale");
  ops::need_per_channel(call, 2, "bias");
  call.out(0, call.dtype(0), call.dims(0));
}

void reference(Call& call) { ops::normalize_groups(call, call.in[0].shape[1]); }

}  // namespace

OpDef op_instance_normalization() {
  return {.name = "InstanceNormalization",
          .min_inputs = 3,
          .max_inputs = 3,
          .types = "T, T, T -> T; T: float",
          .attributes = {{"epsilon", 1e-5f}},
          .infer = infer,
          .reference = reference,
          .traits = {.narrows = true},
          .onnx_since = 1,
          .cases = {"f32[2,3,8,9] f32[3] f32[3]", "f32[1,5,17] f32[5]! f32[5]! epsilon=0.01", "f32[2,4,3,4,5] f32[4] f32[4]"}};
}

}  // namespace tenfold::ir
