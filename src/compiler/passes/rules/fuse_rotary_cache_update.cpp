// fuse_rotary_cache_update: the queries of an attention are turned, its keys are turned and written into their cache, its values are
// written into theirs: one node in place of four. For GPUs, where each of the four is a launch and takes as long as it.
//
// before: (q f32[1,4,1,8], k f32[1,2,1,8], v f32[1,2,1,8], c f32[1,2,6,8], d f32[1,2,6,8], x f32[9,4]!, y f32[9,4]!)
//   p = i32[1,1]{7}
//   s = i64[1]{5}
//   r = RotaryEmbedding(q, x, y, p)
//   t = RotaryEmbedding(k, x, y, p)
//   e = TensorScatter(c, t, s)
//   f = TensorScatter(d, v, s)
//   a = FusedAttention(r, e, f) scale=0.5
//   return a, e, f
// after: (q f32[1,4,1,8], k f32[1,2,1,8], v f32[1,2,1,8], c f32[1,2,6,8], d f32[1,2,6,8], x f32[9,4]!, y f32[9,4]!)
//   p = i32[1,1]{7}
//   s = i64[1]{5}
//   r, e, f = RotaryCacheUpdate(q, k, v, c, d, x, y, p, s)
//   a = FusedAttention(r, e, f) scale=0.5
//   return a, e, f
//
// kept: (q f32[1,4,1,8], k f32[1,2,1,8], v f32[1,2,1,8], c f32[1,2,6,8], d f32[1,2,6,8], x f32[9,4]!, y f32[9,4]!)
//   p = i32[1,1]{7}
//   s = i64[1]{5}
//   z = i64[1]{4}
//   r = RotaryEmbedding(q, x, y, p)
//   t = RotaryEmbedding(k, x, y, p)
//   e = TensorScatter(c, t, s)
//   f = TensorScatter(d, v, z)
//   a = FusedAttention(r, e, f) scale=0.5
//   return a, e, f
#include <algorithm>
#include <set>

#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

// The node behind views and parts.
Node* source_of(const Value* v) {
  const auto moves = [](const Node& n) {
    const ir::Movement m = n.def->traits.movement;
    return !n.body && (m == ir::Movement::identity || m == ir::Movement::reshape || m == ir::Movement::transpose ||
                       m == ir::Movement::slice);
  };
  while (v && v->producer && moves(*v->producer)) v = v->producer->in(0);
  return v ? v->producer : nullptr;
}

bool is_scatter(const Node* n) {
  if (!n || n->op() != "TensorScatter" || n->body || n->in(0)->rank() != 4 || !n->in(2)) return false;
  const std::int64_t axis = n->attributes.integer("axis");
  return axis == 2 || axis == -2;
}
bool is_rotation(const Node* n) { return n && n->op() == "RotaryEmbedding" && !n->body && n->in(0)->rank() == 4 && n->in(3); }
bool turn_alike(const Node& a, const Node& b) {
  for (int i = 1; i < 4; ++i)
    if (a.in(i) != b.in(i)) return false;
  return ir::text(a.attributes) == ir::text(b.attributes) && a.in(0)->dtype() == b.in(0)->dtype();
}
bool write_alike(const Node& a, const Node& b) {
  return a.in(2) == b.in(2) && a.attributes.string("mode") == b.attributes.string("mode") && a.in(0)->dtype() == b.in(0)->dtype();
}

struct Update {
  Node *queries, *keys, *key_cache, *value_cache;
  bool includes(const Node* n) const { return n == queries || n == keys || n == key_cache || n == value_cache; }
};

// Whether an operand of the update comes of one of its results: then no one node can make all of them.
bool follows_itself(const Update& u) {
  std::vector<const Node*> open;
  std::set<const Node*> seen;
  const auto visit = [&](const Value* v) {
    if (v && v->producer && !(v == u.keys->out()) && seen.insert(v->producer).second) open.push_back(v->producer);
  };
  for (const Node* n : {u.queries, u.keys, u.key_cache, u.value_cache})
    for (const Value* v : n->inputs) visit(v);
  while (!open.empty()) {
    const Node* n = open.back();
    open.pop_back();
    if (u.includes(n)) return true;
    for (const Value* v : n->inputs) visit(v);
  }
  return false;
}

bool try_fuse(ir::Graph& graph, Node& attention) {
  if (attention.inputs.size() < 3 || !attention.in(0) || !attention.in(1) || !attention.in(2)) return false;
  Update u{source_of(attention.in(0)), nullptr, source_of(attention.in(1)), source_of(attention.in(2))};
  if (!is_rotation(u.queries) || !is_scatter(u.key_cache) || !is_scatter(u.value_cache) || u.key_cache == u.value_cache) return false;
  u.keys = u.key_cache->in(1)->producer;
  if (!is_rotation(u.keys) || u.keys == u.queries || !only_user(graph, u.keys->out())) return false;
  if (!turn_alike(*u.queries, *u.keys) || !write_alike(*u.key_cache, *u.value_cache)) return false;
  if (u.key_cache->in(0)->dtype() != u.queries->in(0)->dtype() || follows_itself(u)) return false;
  Node fused;
  fused.def = &graph.registry().get("RotaryCacheUpdate"), fused.name = u.key_cache->name;
  for (const char* name : {"interleaved", "rotary_embedding_dim"}) fused.attributes.set(name, u.keys->attributes.integer(name));
  fused.attributes.set("mode", u.key_cache->attributes.string("mode"));
  fused.inputs = {u.queries->in(0),     u.keys->in(0), u.value_cache->in(1), u.key_cache->in(0), u.value_cache->in(0),
                  u.keys->in(1), u.keys->in(2), u.keys->in(3),        u.key_cache->in(2)};
  const Node* made = graph.add(std::move(fused), 3, &attention);
  graph.replace_uses(u.queries->out(), made->outputs[0]);
  graph.replace_uses(u.key_cache->out(), made->outputs[1]);
  graph.replace_uses(u.value_cache->out(), made->outputs[2]);
  for (Node* n : {u.queries, u.key_cache, u.keys, u.value_cache}) graph.erase(*n);
  return true;   // movements between the new node and the attention stand before both until the graph is sorted
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (Node* n : graph.node_list())
    if (n->op() == "FusedAttention") changed = try_fuse(graph, *n) || changed;
  return changed;
}

}  // namespace

Pass pass_fuse_rotary_cache_update() { return {.name = "fuse_rotary_cache_update", .run = run}; }

}  // namespace tenfold::passes
