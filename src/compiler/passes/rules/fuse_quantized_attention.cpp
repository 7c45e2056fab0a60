// fuse_quantized_attention: the quantization of an attention's result (for e4m3 also a cast to 16 bits), after its heads are
// concatenated again, becomes its epilogue, so that fewer bytes are moved. For GPUs; the tuner undoes it where no attention kernel
// supports it.
//
// before: (q f16[2,3,5,8], k f16[2,3,7,8], v f16[2,3,7,8])
//   s = i64[3]{2,5,24}
//   a = FusedAttention(q, k, v) scale=0.5
//   t = Transpose(a) perm=[0,2,1,3]
//   r = Reshape(t, s) allowzero=1
//   y = Region(r) body={(f16) %1=cast.f32(%0) %2=constant.f32(0.5) %3=div.f32(%1,%2) %4=cast.f8e4m3fn(%3) -> %4}
// after: (q f16[2,3,5,8], k f16[2,3,7,8], v f16[2,3,7,8])
//   s = i64[3]{2,5,24}
//   a = FusedAttention(q, k, v) scale=0.5 anchor_inputs=3 body={(f16) %1=cast.f32(%0) %2=constant.f32(0.5) %3=div.f32(%1,%2)
//   %4=cast.f8e4m3fn(%3) -> %4} t = Transpose(a) perm=[0,2,1,3] y = Reshape(t, s) allowzero=1
//
// before: (q f8e4m3fn[2,3,5,8], k f8e4m3fn[2,3,7,8], v f8e4m3fn[2,3,7,8])
//   a = AttentionFloat8(q, k, v) scale=0.5
//   t = Transpose(a) perm=[0,2,1,3]
//   y = Cast(t) to="f16"
// after: (q f8e4m3fn[2,3,5,8], k f8e4m3fn[2,3,7,8], v f8e4m3fn[2,3,7,8])
//   a = AttentionFloat8(q, k, v) scale=0.5 anchor_inputs=3 body={(f32) %1=cast.f16(%0) -> %1}
//   y = Transpose(a) perm=[0,2,1,3]
//
// kept: (q f16[2,3,5,8], k f16[2,3,7,8], v f16[2,3,7,8])
//   a = FusedAttention(q, k, v) scale=0.5
//   y = Region(a) body={(f16) %1=constant.f16(0.5) %2=mul.f16(%0,%1) -> %2}
//
// kept: (q f16[2,3,5,8], k f16[2,3,7,8], v f16[2,3,7,8])
//   a = FusedAttention(q, k, v) scale=0.5
//   t = Transpose(a) perm=[0,2,1,3]
//   y = Region(t) body={(f16) %1=cast.f32(%0) %2=constant.f32(0.5) %3=div.f32(%1,%2) %4=cast.f8e4m3fn(%3) -> %4}
//   z = Relu(t)
//   return y, z
#include "passes/bodies.h"
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

// What is between `v` and the attention that made it, the last first; nothing if that is no attention, or somebody else reads on the way.
std::optional<std::vector<Node*>> movement_behind_attention(const ir::Graph& graph, const Value* v) {
  std::vector<Node*> moves;
  while (v->producer && v->users.size() == 1 && !graph.is_output(v)) {
    const Node& n = *v->producer;
    if (n.op() == "FusedAttention") return n.body || n.in(4) ? std::nullopt : std::optional(moves);
    if (n.op() == "AttentionFloat8") return moves;
    if (v->producer->op() != "Transpose" && !is_reshape(*v->producer)) break;
    moves.push_back(v->producer);
    v = v->producer->in(0);
  }
  return {};
}

bool try_fuse(ir::Graph& graph, Node& region) {
  if ((region.op() != "Region" && region.op() != "Cast") || region.inputs.size() != 1 || region.outputs.size() != 1) return false;
  const int after = bits(region.out()->dtype());
  if (after >= bits(region.in(0)->dtype())) return false;
  std::optional<ir::Body> body = body_of(region);
  const auto moves = body ? movement_behind_attention(graph, region.in(0)) : std::nullopt;
  if (!moves) return false;
  const Node& attention = *(moves->empty() ? region.in(0) : moves->back()->in(0))->producer;
  if (after != 8 && !(after == 16 && is_float(region.out()->dtype()) && attention.op() == "AttentionFloat8")) return false;
  if (attention.body) {
    if (attention.inputs.size() != static_cast<std::size_t>(attention.anchor_inputs)) return false;   // operands of its own
    body = ir::compose(*attention.body, *body, {attention.body->outputs[0]});
  }
  Node both;
  both.def = attention.def, both.attributes = attention.attributes, both.name = attention.name, both.numerics = attention.numerics;
  both.inputs = attention.inputs, both.anchor_inputs = static_cast<int>(attention.inputs.size()), both.body = body;
  Value* v = graph.add(std::move(both), 1, &region)->out();
  for (auto move = moves->rbegin(); move != moves->rend(); ++move) {
    std::vector<Value*> inputs = (*move)->inputs;
    inputs[0] = v;
    v = graph.add_like(**move, std::move(inputs), &region)->out();
  }
  graph.replace_uses(region.out(), v);
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, try_fuse); }

}  // namespace

Pass pass_fuse_quantized_attention() { return {.name = "fuse_quantized_attention", .run = run}; }

}  // namespace tenfold::passes
