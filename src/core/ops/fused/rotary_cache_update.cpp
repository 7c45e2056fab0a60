// RotaryCacheUpdate (internal): RotaryEmbedding of queries and of keys, and TensorScatter of the turned keys and of values into their
// caches. Operands: queries, keys and values [batch, heads, rows, size], the caches of keys and of values [batch, heads, places, size],
// cosines and sines [positions, half], positions, where the rows begin in the caches. Results: the turned queries, both caches. Made by a
// pass for GPUs, where a step of a decoder would launch four kernels for that.
#include "ops/dim_rules.h"
#include "ops/fused/fused_common.h"

namespace tenfold::ir {
namespace {

enum Operand { kQueries, kKeys, kValues, kKeyCache, kValueCache, kCosines, kSines, kPositions, kStart };

void infer(InferCall& call) {
  for (const int i : {kQueries, kKeys, kValues, kKeyCache, kValueCache})
    call.check_shape(call.rank(i) == 4, "operand ", i, " has rank ", call.rank(i), ", expected [batch, heads, rows, size]");
  for (const int i : {kCosines, kSines, kPositions})
    call.check_shape(call.rank(i) == 2, "operand ", i, " has rank ", call.rank(i), ", expected 2");
  call.check_shape(call.rank(kStart) == 1, "where rows begin is not one number for each batch entry");
  for (const auto& [rows, cache] : {std::pair{kKeys, kKeyCache}, std::pair{kValues, kValueCache}})
    for (const std::size_t d : {0u, 1u, 3u}) ops::same_extent(call, call.dims(cache)[d], call.dims(rows)[d], "extents beside the places");
  const std::string& mode = call.attributes().string("mode");
  call.validate(mode == "linear" || mode == "circular", "unknown mode '", mode, "'");
  call.out(0, call.dtype(kQueries), call.dims(kQueries));
  call.out(1, call.dtype(kKeyCache), call.dims(kKeyCache));
  call.out(2, call.dtype(kValueCache), call.dims(kValueCache));
}

std::vector<Value*> decompose(Graph& graph, Node& node) {
  Decomposition x(graph, node);
  const Attributes rotation{{"interleaved", node.attributes.integer("interleaved")},
                            {"rotary_embedding_dim", node.attributes.integer("rotary_embedding_dim")}};
  const Attributes place{{"axis", std::int64_t{2}}, {"mode", node.attributes.string("mode")}};
  const auto turned = [&](Operand i) {
    return x("RotaryEmbedding", {node.in(i), node.in(kCosines), node.in(kSines), node.in(kPositions)}, rotation);
  };
  const auto written = [&](Operand cache, Value* rows) { return x("TensorScatter", {node.in(cache), rows, node.in(kStart)}, place); };
  Value *queries = turned(kQueries), *keys = written(kKeyCache, turned(kKeys));
  return {queries, keys, written(kValueCache, node.in(kValues))};
}

}  // namespace

OpDef op_rotary_cache_update() {
  return fused({.name = "RotaryCacheUpdate",
                .min_inputs = 9,
                .max_inputs = 9,
                .min_outputs = 3,
                .max_outputs = 3,
                .types = "T, T, T, T, T, float, float, int, int -> T, T, T; T: float",
                .attributes = {{"interleaved", 0}, {"rotary_embedding_dim", 0}, {"mode", "linear"}},
                .infer = infer,
                .decompose = decompose,
                .traits = {.strided = true, .autotuned = true},
                .cases = {"f32[2,4,3,8] f32[2,2,3,8] f32[2,2,3,8] f32[2,2,9,8] f32[2,2,9,8] f32[20,4] f32[20,4] i64[2,3](0,19) i64[2]{1,6}",
                          "f16[1,3,1,8] f16[1,1,1,8] f16[1,1,1,8] f16[1,1,5,8] f16[1,1,5,8] f32[9,4] f32[9,4] i32[1,1](0,8) i64[1]{4} "
                          "interleaved=1",
                          "f32[2,2,3,8] f32[2,2,3,8] f32[2,2,3,8] f32[2,2,5,8] f32[2,2,5,8] f32[9,2] f32[9,2] i32[2,3](0,8) i64[2]{3,4} "
                          "rotary_embedding_dim=4 mode=\"circular\""}},
               Between::as_stored);
}

}  // namespace tenfold::ir
