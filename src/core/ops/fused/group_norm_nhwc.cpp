// GroupNormNhwc (internal): GroupNormalization (Wu and He 2018), whose kernels take images with their channels innermost, as convolutions
// give them. InstanceNormalization has as many groups as channels. Made by fuse_group_norm_nhwc and fuse_group_norm_nhwc_on_hosts.
#include "ops/dim_rules.h"
#include "ops/fused/fused_common.h"
#include "ops/norm/norm_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.check_shape(call.rank(0) >= 3, "the input has rank ", call.rank(0), ", expected batch, channels and spatial dims");
  const std::int64_t groups = call.attributes().integer("num_groups", 0);
  call.validate(groups > 0, "num_groups is ", groups, ", expected 1 or more");
  const Dim channels = call.dims(0)[1];
  call.check_shape(!channels.is_constant() || channels.constant() % groups == 0, channels.text(), " channels do not divide into ", groups,
            " groups");
  ops::need_per_channel(call, 1, "scale");
  ops::need_per_channel(call, 2, "bias");
  call.out(0, call.dtype(0), call.dims(0));
}

std::vector<Value*> decompose(Graph& graph, Node& node) {
  const Attributes& a = node.attributes;
  const Attributes same{{"epsilon", a.number("epsilon")}, {"num_groups", a.integer("num_groups")}};
  return {Decomposition(graph, node)("GroupNormalization", {node.in(0), node.in(1), node.in(2)}, same)};
}

}  // namespace

OpDef op_group_norm_nhwc() {
  return fused({.name = "GroupNormNhwc",
                .min_inputs = 3,
                .max_inputs = 3,
                .types = "T, T, T -> T; T: float",
                .attributes = {{"epsilon", 1e-5f}, {"num_groups", 1}},
                .infer = infer,
                .decompose = decompose,
                .traits = {.anchor = true},
                .cases = {"f16[2,24,5,7] f16[24] f16[24] num_groups=3", "bf16[1,8,16] bf16[8]! bf16[8]! num_groups=8 epsilon=0.01",
                          "f16[3,64,9,11](5,6) f16[64] f16[64] num_groups=16", "f16[2,16,3,4,5] f16[16] f16[16]"}},
               Between::as_stored);
}

}  // namespace tenfold::ir
