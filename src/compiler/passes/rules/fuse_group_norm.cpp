// fuse_group_norm: torch writes GroupNorm as an InstanceNormalization of groups between two reshapes, followed by scale and bias (Wu
// and He 2018).
//
// before: (x f32[2,6,4,4], w f32[6,1,1]!, b f32[6,1,1]!)
//   one = f32[3]{1.0,1.0,1.0}
//   zero = f32[3]{0.0,0.0,0.0}
//   groups = i64[3]{0,3,-1}
//   all = i64[4]{2,6,4,4}
//   g = Reshape(x, groups)
//   i = InstanceNormalization(g, one, zero) epsilon=0.001
//   r = Reshape(i, all)
//   s = Mul(r, w)
//   y = Add(s, b)
// after: (x f32[2,6,4,4], w f32[6,1,1]!, b f32[6,1,1]!)
//   six = i64[1]{6}
//   ws = Reshape(w, six) allowzero=1
//   bs = Reshape(b, six) allowzero=1
//   y = GroupNormalization(x, ws, bs) epsilon=0.001 num_groups=3
//
// before: (x f32[2,6,4,4], w f32[6,1,1]!, b f32[6,1,1]!)
//   one = f32[32]{1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0}
//   groups = i64[3]{0,3,-1}
//   all = i64[4]{2,6,4,4}
//   g = Reshape(x, groups)
//   i = LayerNormalization(g, one) epsilon=0.001
//   r = Reshape(i, all)
//   s = Mul(r, w)
//   y = Add(s, b)
// after: (x f32[2,6,4,4], w f32[6,1,1]!, b f32[6,1,1]!)
//   six = i64[1]{6}
//   ws = Reshape(w, six) allowzero=1
//   bs = Reshape(b, six) allowzero=1
//   y = GroupNormalization(x, ws, bs) epsilon=0.001 num_groups=3
//
// kept: (x f32[2,6,4,4], w f32[4]!, b f32[6,1,1]!)
//   one = f32[3]{1.0,1.0,1.0}
//   zero = f32[3]{0.0,0.0,0.0}
//   groups = i64[3]{0,3,-1}
//   all = i64[4]{2,6,4,4}
//   g = Reshape(x, groups)
//   i = InstanceNormalization(g, one, zero) epsilon=0.001
//   r = Reshape(i, all)
//   s = Mul(r, w)
//   y = Add(s, b)
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Dim;
using ir::Node;
using ir::Value;

bool all_are(const Value* v, double requested) {
  const Tensor* elements = v && v->dtype() == DType::f32 ? look(v) : nullptr;
  if (!elements) return false;
  for (std::int64_t i = 0; i < elements->size(); ++i)
    if (elements->as_double(i) != requested) return false;
  return true;
}

// The other operand of the only reader of `v`, if that is `op` and the operand has one number for each channel of a result of this rank.
Value* by_channel(const ir::Graph& graph, const Value* v, const char* op, Dim channels) {
  const Node* next = only_user(graph, v);
  if (!next || next->op() != op || next->body || next->out()->dims() != v->dims()) return nullptr;
  Value* operand = other(*next, v);
  const int at = operand->rank() - (v->rank() - 1);   // where the channels stand
  if (at < 0 || at > 1 || operand->dims()[static_cast<std::size_t>(at)] != channels || ir::product(operand->dims()) != channels)
    return nullptr;
  return operand;
}

// Of each group alone: by channels that are groups, or, written in pieces, by rows that are.
bool norms_groups(const Node& n) {
  if (n.body || n.out()->dtype() != DType::f32) return false;
  if (n.op() == "InstanceNormalization") return all_are(n.in(1), 1) && all_are(n.in(2), 0);
  const bool rows = n.op() == "LayerNormalization" && n.outputs.size() == 1 && n.in(0)->rank() == 3 &&
                    n.attributes.integer("axis", -1) == -1;
  return rows && all_are(n.in(1), 1) && !n.in(2);
}

bool try_fuse(ir::Graph& graph, Node& norm) {
  if (!norms_groups(norm)) return false;
  const Node* groups = norm.in(0)->producer;
  const Node* back = only_user(graph, norm.out());
  if (!groups || !is_reshape(*groups) || !back || !is_reshape(*back) || groups->in(0)->dims() != back->out()->dims()) return false;
  Value* x = groups->in(0);
  if (x->rank() < 3 || norm.in(0)->rank() < 3 || norm.in(0)->dims()[0] != x->dims()[0]) return false;
  const Dim channels = x->dims()[1], count = norm.in(0)->dims()[1];
  if (!channels.is_constant() || !count.is_constant() || count.constant() < 1 || channels.constant() % count.constant() != 0) return false;
  Value* scale = by_channel(graph, back->out(), "Mul", channels);
  if (!scale) return false;
  Value* scaled = back->out()->users[0]->out();
  Value* shift = by_channel(graph, scaled, "Add", channels);
  if (!shift) return false;
  Node* end = scaled->users[0];
  std::vector<Value*> operands{x, reshape_to(graph, scale, {channels}, end), reshape_to(graph, shift, {channels}, end)};
  if (!operands[1] || !operands[2]) return false;
  const ir::Attributes attributes{{"epsilon", norm.attributes.number("epsilon", 1e-5f)}, {"num_groups", count.constant()}};
  graph.replace_uses(end->out(), graph.make("GroupNormalization", operands, attributes, end));
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, try_fuse); }

}  // namespace

Pass pass_fuse_group_norm() { return {.name = "fuse_group_norm", .run = run}; }

}  // namespace tenfold::passes
