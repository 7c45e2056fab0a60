// AttentionInt8Cache (internal): FusedAttention of f32 queries over keys and values of i8, which have a scale for each row: k[.., t, :]
// times k_scale[.., t, 0]. Operands: those of FusedAttention, whose offsets have to be missing, k_scale [B, G, T, 1], v_scale [B, G, T, 1].
// Kernels widen what they read in registers or blocks, so that the cache of a decoder is never unfolded. Made for CPUs.
#include "ops/dim_rules.h"
#include "ops/fused/attention_dims.h"
#include "ops/fused/fused_common.h"

namespace tenfold::ir {
namespace {

enum Operand { kQueries, kKeys, kValues, kMask, kOffsets, kKeyScale, kValueScale };

void infer(InferCall& call) {
  call.validate(!call.has(kOffsets), "packed sentences have no cache");
  Dims result = attention_dims(call);
  for (const auto& [rows, scale] : {std::pair{kKeys, kKeyScale}, std::pair{kValues, kValueScale}}) {
    const Dims& dims = call.dims(scale);
    call.check_shape(dims.size() == 4 && dims[3] == Dim(1), "the scales of operand ", static_cast<int>(rows), " are [", text(dims),
                     "], expected one for each row");
    for (const std::size_t d : {0u, 1u, 2u}) ops::same_extent(call, call.dims(rows)[d], dims[d], "rows and scales");
  }
  call.out(0, DType::f32, std::move(result));
}

std::vector<Value*> decompose(Graph& graph, Node& node) {
  Decomposition x(graph, node);
  const auto wide = [&](Operand rows, Operand scale) { return x("Mul", {x.cast(node.in(rows), DType::f32), node.in(scale)}); };
  Value *keys = wide(kKeys, kKeyScale), *values = wide(kValues, kValueScale);
  std::vector<Value*> operands{node.in(kQueries), keys, values};
  if (node.in(kMask)) operands.push_back(node.in(kMask));
  return {x("FusedAttention", std::move(operands), node.attributes)};
}

}  // namespace

OpDef op_attention_int8_cache() {
  return fused(
      {.name = "AttentionInt8Cache",
       .min_inputs = 7,
       .max_inputs = 7,
       .types = "f32, i8, i8, dense?, i32?, f32, f32 -> f32",
       .attributes = {{"causal", 0}, {"scale", 1.0f}},
       .optional_attributes = "nan_rows: int",
       .infer = infer,
       .decompose = decompose,
       .traits = {.permission = {.rounding = true}, .strided = true},
       .cases = {"f32[2,3,7,16] i8[2,3,7,16] i8[2,3,7,16] _ _ f32[2,3,7,1](0.005,0.01) f32[2,3,7,1](0.005,0.01) scale=0.25",
                 "f32[1,4,1,64] i8[1,2,300,64] i8[1,2,300,64] f32[1,1,1,300](-9,0) _ f32[1,2,300,1](0.005,0.01) f32[1,2,300,1](0.005,0.01) "
                 "scale=0.125",
                 "f32[1,2,6,4] i8[1,2,6,4] i8[1,2,6,4] _ _ f32[1,2,6,1](0.005,0.01) f32[1,2,6,1](0.005,0.01) causal=1 scale=0.5",
                 "f32[1,2,3,8] i8[1,2,4,8] i8[1,2,4,8] f32[1,1,3,4]{0,0,0,0,-inf,-inf,-inf,-inf,0,-inf,1,0} _ f32[1,2,4,1](0.005,0.01) "
                 "f32[1,2,4,1](0.005,0.01) nan_rows=1 scale=0.5",
                 "f32[2,6,5,8] i8[2,2,9,8] i8[2,2,9,11] f32[2,6,5,9](-3,3) _ f32[2,2,9,1](0.005,0.01) f32[2,2,9,1](0.005,0.01) scale=0.5"},
       .on_host = "made for CPUs only"},
      Between::as_stored);
}

}  // namespace tenfold::ir
