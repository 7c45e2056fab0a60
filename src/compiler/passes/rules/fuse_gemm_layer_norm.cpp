// fuse_gemm_layer_norm: a GEMM with constant weights and the norm of its rows, with the additions between them, become one node. For
// GPUs, where neighboring blocks can hold a row between them; the tuner undoes it where that is not faster (tune/choice/unfuse.h).
//
// before: (x f32[6,8], w f32[8,16]!, b f32[16]!, r f32[6,16], g f32[16]!, h f32[16]!)
//   p = MatMul(x, w, b) anchor_inputs=2 body={(f32,f32) %2=add.f32(%0,%1) -> %2}
//   y = SkipLayerNorm(g, h, p, _, r)
// after: (x f32[6,8], w f32[8,16]!, b f32[16]!, r f32[6,16], g f32[16]!, h f32[16]!)
//   y = GemmLayerNorm(x, w, g, h, b, r)
//
// before: (x f32[6,8], w f32[8,16]!, b f32[16]!, r f32[6,16], g f32[16]!, h f32[16]!)
//   p = MatMul(x, w, b, r) numerics={round_to=tf32} anchor_inputs=2 body={(f32,f32,f32) %3=add.f32(%0,%1) %4=add.f32(%2,%3) -> %4}
//   y = LayerNormalization(p, g, h)
//   z = Relu(p)
//   return y, z
// after: (x f32[6,8], w f32[8,16]!, b f32[16]!, r f32[6,16], g f32[16]!, h f32[16]!)
//   y, p = GemmLayerNorm(x, w, g, h, b, r) numerics={round_to=tf32}
//   z = Relu(p)
//   return y, z
//
// kept: (x f32[6,8], w f32[8,16]!, r f32[6,16], g f32[16]!, h f32[16]!)
//   p = MatMul(x, w) anchor_inputs=2 body={(f32) %1=exp.f32(%0) -> %1}
//   y = SkipLayerNorm(g, h, p, _, r)
#include <algorithm>

#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

// What is added to a product: at most a row and a tensor of its shape.
struct Sum {
  Value *row = nullptr, *whole = nullptr;
  bool add(Value* v, const Value* result) {
    Value*& place = v->dims() == result->dims() ? whole : row;
    if (place || (&place == &row && (!v->is_constant() || v->dims() != ir::Dims{result->dims().back()}))) return false;
    place = v;
    return true;
  }
};

// Whether the body is the sum of its operands, each taken once.
bool only_adds(const ir::Body& body) {
  std::vector<int> uses(static_cast<std::size_t>(body.value_count()));
  for (const ir::Instr& i : body.code) {
    if (i.prim != ir::Prim::add) return false;
    ++uses[i.a], ++uses[i.b];
  }
  const bool each_once = std::all_of(uses.begin(), uses.end() - 1, [](int count) { return count == 1; });
  return each_once && body.outputs.size() == 1 && body.outputs[0] + 1 == body.value_count();
}

// The product that makes `v`, and what its epilogue adds.
Node* product_after(const Value* v, Sum& sum) {
  Node* n = v && v->producer && v->producer->op() == "MatMul" ? v->producer : nullptr;
  if (!n || n->outputs.size() != 1 || !n->in(1)->is_constant() || n->in(1)->rank() != 2 || n->in(0)->rank() < 2) return nullptr;
  if (n->in(0)->rank() != v->rank() || n->in(0)->dtype() != v->dtype() || !v->dims().back().is_constant()) return nullptr;
  if (!n->body) return n;
  if (!only_adds(*n->body)) return nullptr;
  for (std::size_t i = static_cast<std::size_t>(n->anchor_inputs); i < n->inputs.size(); ++i)
    if (!sum.add(n->inputs[i], v)) return nullptr;
  return n;
}

bool is_row(const Value* v, const Value* result) { return v && v->is_constant() && v->dims() == ir::Dims{result->dims().back()}; }

bool fuse(ir::Graph& graph, Node& norm, Node& product, const Sum& sum, Value* scale, Value* bias, bool kept) {
  if (!is_row(scale, norm.out()) || !is_row(bias, norm.out())) return false;
  Node fused;
  fused.def = &graph.registry().get("GemmLayerNorm"), fused.name = norm.name, fused.numerics = product.numerics;
  fused.attributes.set("epsilon", norm.attributes.number("epsilon"));
  fused.inputs = {product.in(0), product.in(1), scale, bias};
  if (sum.row || sum.whole) fused.inputs.push_back(sum.row);
  if (sum.whole) fused.inputs.push_back(sum.whole);
  Value* sums = product.out();
  const Node* added = graph.add(std::move(fused), kept ? 2 : 1, &norm);
  graph.replace_uses(norm.out(), added->outputs[0]);
  graph.erase(norm);
  if (kept) graph.replace_uses(sums, added->outputs[1]);
  return true;
}

bool try_skip_layer_norm(ir::Graph& graph, Node& n) {
  if (n.op() != "SkipLayerNorm") return false;
  for (std::size_t i = 3; i < n.inputs.size(); i += 2)
    if (n.inputs[i]) return false;
  for (std::size_t at = 2; at < n.inputs.size(); at += 2) {
    Sum sum;
    Node* product = only_user(graph, n.inputs[at]) ? product_after(n.inputs[at], sum) : nullptr;
    if (!product || n.inputs[at]->dims() != n.out()->dims()) continue;
    bool fits = true;
    for (std::size_t i = 2; i < n.inputs.size(); i += 2) fits = fits && (i == at || sum.add(n.inputs[i], n.out()));
    if (fits) return fuse(graph, n, *product, sum, n.in(0), n.in(1), false);
  }
  return false;
}

bool try_layer_norm(ir::Graph& graph, Node& n) {
  if (n.op() != "LayerNormalization" || n.body || n.outputs.size() != 1) return false;
  const std::int64_t axis = n.attributes.integer("axis", -1);
  Sum sum;
  Node* product = axis == -1 || axis == n.out()->rank() - 1 ? product_after(n.in(0), sum) : nullptr;
  if (!product || n.in(0)->dims() != n.out()->dims() || n.out()->dtype() != n.in(0)->dtype()) return false;
  return fuse(graph, n, *product, sum, n.in(1), n.in(2), !only_user(graph, n.in(0)));
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (Node* n : graph.node_list()) changed = try_skip_layer_norm(graph, *n) || try_layer_norm(graph, *n) || changed;
  if (changed) graph.sort();   // other readers of a sum may stand before its norm
  return changed;
}

}  // namespace

Pass pass_fuse_gemm_layer_norm() { return {.name = "fuse_gemm_layer_norm", .run = run}; }

}  // namespace tenfold::passes
