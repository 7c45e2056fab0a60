// fuse_int8_cache: an attention whose keys and values are dequantized bytes with a scale for each row, as a decoder's int8 cache has them,
// reads the bytes. For CPUs.
//
// before: (q f32[1,4,1,8], k i8[1,2,6,8], v i8[1,2,6,8], s f32[1,2,6,1], t f32[1,2,6,1], m f32[1,1,1,6])
//   kd = DequantizeLinear(k, s) axis=3 block_size=8
//   vd = DequantizeLinear(v, t) axis=3 block_size=8
//   y = FusedAttention(q, kd, vd, m) scale=0.5
// after: (q f32[1,4,1,8], k i8[1,2,6,8], v i8[1,2,6,8], s f32[1,2,6,1], t f32[1,2,6,1], m f32[1,1,1,6])
//   y = AttentionInt8Cache(q, k, v, m, _, s, t) scale=0.5
//
// kept: (q f32[1,4,1,8], k i8[1,2,6,8], v f32[1,2,6,8], s f32[1,2,6,1])
//   kd = DequantizeLinear(k, s) axis=3 block_size=8
//   y = FusedAttention(q, kd, v) scale=0.5
//
// kept: (q f32[1,4,1,8], k i8[1,2,6,8], v i8[1,2,6,8], s f32[1,2,6,2], t f32[1,2,6,1])
//   kd = DequantizeLinear(k, s) axis=3 block_size=4
//   vd = DequantizeLinear(v, t) axis=3 block_size=8
//   y = FusedAttention(q, kd, vd) scale=0.5
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/precision/qdq.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

// What makes floats of i8 that have one scale for each row; null for anything else.
const Node* rows_with_scales(const Value* v) {
  const Node* n = v ? v->producer : nullptr;
  if (!is_dequantize(n) || n->body || v->rank() != 4 || v->dtype() != DType::f32) return nullptr;
  if (n->in(0)->dtype() != DType::i8 || n->in(2) || n->in(1)->rank() != 4 || n->in(1)->dtype() != DType::f32) return nullptr;
  const std::int64_t axis = n->attributes.integer("axis", 1);
  return (axis == 3 || axis == -1) && n->in(1)->dims()[3] == ir::Dim(1) ? n : nullptr;
}

bool fuse(ir::Graph& graph, Node& node) {
  if (node.op() != "FusedAttention" || node.body || node.in(4) || node.attributes.number("softcap", 0) > 0) return false;
  const Node *keys = rows_with_scales(node.in(1)), *values = rows_with_scales(node.in(2));
  if (!keys || !values || node.in(0)->dtype() != DType::f32) return false;
  Node fused;
  fused.def = &graph.registry().get("AttentionInt8Cache");
  fused.name = node.name, fused.numerics = node.numerics, fused.sources = node.sources;
  fused.inputs = {node.in(0), keys->in(0), values->in(0), node.in(3), nullptr, keys->in(1), values->in(1)};
  fused.attributes = {{"causal", node.attributes.integer("causal")}, {"scale", node.attributes.number("scale")}};
  if (node.attributes.has("nan_rows")) fused.attributes.set("nan_rows", node.attributes.integer("nan_rows"));
  graph.replace_uses(node.out(), graph.add(std::move(fused), 1, &node)->out());
  return true;
}

}  // namespace

Pass pass_fuse_int8_cache() {
  return {.name = "fuse_int8_cache", .run = [](ir::Graph& graph) { return try_each(graph, fuse); }};
}

}  // namespace tenfold::passes
