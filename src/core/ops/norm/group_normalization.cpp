// GroupNormalization: zero mean and unit variance for each group of channels of each sample, then scale and bias by channel.
#include "ops/norm/norm_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.check_shape(call.rank(0) >= 2, "the input has rank ", call.rank(0), ", expected batch, channels and spatial dims");
  const std::int64_t groups = call.attributes().integer("num_groups");
  const Dim channels = call.dims(0)[1];
  call.validate(groups > 0, "num_groups is ", groups, ", expected a positive number");
  call.check_shape(!channels.is_constant() || channels.constant() % groups == 0, channels.text(), " channels do not divide into ", groups,
            " groups");
  ops::need_per_channel(call, 1, "scale");
  ops::need_per_channel(call, 2, "bias");
  call.out(0, call.dtype(0), call.dims(0));
}

void reference(Call& call) { ops::normalize_groups(call, call.attributes().integer("num_groups")); }

}  // namespace

OpDef op_group_normalization() {
  return {.name = "GroupNormalization",
          .min_inputs = 3,
          .max_inputs = 3,
          .types = "T, T, T -> T; T: float",
          .attributes = {{"epsilon", 1e-5f}, {"stash_type", 1}},
          .optional_attributes = "num_groups: int",
          .infer = infer,
          .reference = reference,
          .traits = {.narrows = true},
          .cases = {"f32[2,6,5,7] f32[6] f32[6] num_groups=3", "f32[1,8,16] f32[8]! f32[8]! num_groups=1 epsilon=0.01",
                    "f32[2,4,3,3] f32[4] f32[4] num_groups=4"}};
}

}  // namespace tenfold::ir
