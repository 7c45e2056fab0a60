// fuse_quantised_attention: what makes 8 bits of an attention's result, once its heads lie beside each other again, becomes its epilogue;
// then 8 bits are moved. For GPUs; the tuner cuts it off where no attention writes them.
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
    if (v->producer->op() == "FusedAttention") return v->producer->body || v->producer->in(4) ? std::nullopt : std::optional(moves);
    if (v->producer->op() != "Transpose" && !is_reshape(*v->producer)) break;
    moves.push_back(v->producer);
    v = v->producer->in(0);
  }
  return {};
}

bool try_fuse(ir::Graph& graph, Node& region) {
  if (region.op() != "Region" || region.inputs.size() != 1 || region.outputs.size() != 1) return false;
  if (bits(region.out()->dtype()) != 8 || bits(region.in(0)->dtype()) <= 8) return false;
  const std::optional<ir::Body> body = body_of(region);
  const auto moves = body ? movement_behind_attention(graph, region.in(0)) : std::nullopt;
  if (!moves) return false;
  const Node& attention = *(moves->empty() ? region.in(0) : moves->back()->in(0))->producer;
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

Pass pass_fuse_quantised_attention() { return {.name = "fuse_quantised_attention", .run = run}; }

}  // namespace tenfold::passes
