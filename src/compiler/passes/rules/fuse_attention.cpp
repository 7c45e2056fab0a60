// fuse_attention: softmax(q k^T * scale + mask) v, as torch 1.x to 2.x exporters write it, becomes one FusedAttention. The scale may
// be on q, on k, on both, or on the scores (as Mul or Div), before or after the transposes; masks may be added or inserted by Where,
// in either order, and several may follow each other. A row whose keys are all hidden by minus infinity is NaN (nan_rows=1), or zeros
// where torch's guard Where(IsNaN(p), 0, p) follows. Heads in three dims get a batch of one. Keys and values that are repeated for
// several query heads (GQA) are not materialized.
//
// before: (q f32[1,2,8,4], k f32[1,2,8,4], v f32[1,2,8,4], m f32[1,1,8,8])
//   s = f32[]{0.5}
//   qs = Mul(q, s)
//   kt = Transpose(k) perm=[0,1,3,2]
//   a = MatMul(qs, kt)
//   b = Add(a, m)
//   p = Softmax(b)
//   y = MatMul(p, v)
// after: (q f32[1,2,8,4], k f32[1,2,8,4], v f32[1,2,8,4], m f32[1,1,8,8])
//   y = FusedAttention(q, k, v, m) nan_rows=1 scale=0.5
//
// before: (q f32[1,4,8,4], k f32[1,2,8,4], v f32[1,2,8,4], m f32[1,1,8,8], c bool[1,1,8,8])
//   five = i64[5]{1,2,1,8,4}
//   each = i64[5]{1,2,2,8,4}
//   all = i64[4]{1,4,8,4}
//   s = f32[]{2.0}
//   low = f32[]{-100000000.0}
//   k5 = Reshape(k, five)
//   ke = Expand(k5, each)
//   kr = Reshape(ke, all)
//   v5 = Reshape(v, five)
//   ve = Expand(v5, each)
//   vr = Reshape(ve, all)
//   kt = Transpose(kr) perm=[0,1,3,2]
//   a = MatMul(q, kt)
//   b = Div(a, s)
//   d = Add(b, m)
//   e = Where(c, low, d)
//   p = Softmax(e)
//   y = MatMul(p, vr)
// after: (q f32[1,4,8,4], k f32[1,2,8,4], v f32[1,2,8,4], m f32[1,1,8,8], c bool[1,1,8,8])
//   low = f32[]{-1000000015047466219876688855040.0}
//   b = Where(c, low, m)
//   y = FusedAttention(q, k, v, b) nan_rows=1 scale=0.5
//
// before: (q f32[1,2,8,4], k f32[1,2,8,4], v f32[1,2,8,4], m f32[1,1,8,8])
//   zero = f32[]{0.0}
//   kt = Transpose(k) perm=[0,1,3,2]
//   a = MatMul(q, kt)
//   b = Add(a, m)
//   p = Softmax(b)
//   n = IsNaN(p)
//   g = Where(n, zero, p)
//   y = MatMul(g, v)
// after: (q f32[1,2,8,4], k f32[1,2,8,4], v f32[1,2,8,4], m f32[1,1,8,8])
//   y = FusedAttention(q, k, v, m) scale=1.0
#include <algorithm>
#include <cmath>

#include "passes/attention_fusion.h"
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

// Strips scalar factors off `v` and multiplies them into `scale`.
Value* unscaled(Value* v, double& scale) {
  for (;;) {
    Node* mul = made_by(v, "Mul");
    Node* div = made_by(v, "Div");
    const Node* n = mul ? mul : div;
    const auto right = n ? scalar_operand(*n, 1) : std::nullopt, left = mul && !right ? scalar_operand(*mul, 0) : std::nullopt;
    if (mul && right) scale *= *right, v = mul->in(0);
    else if (left) scale *= *left, v = mul->in(1);
    else if (div && right && *right != 0) scale /= *right, v = div->in(0);
    else return v;
  }
}
// The same for an operand whose factor may stand before the movement that splits its heads.
Value* unscaled_operand(ir::Graph& graph, Value* v, double& scale, Node* before) {
  v = unscaled(v, scale);
  Node* n = v->producer;
  if (!n || n->body || (n->op() != "Transpose" && !is_reshape(*n))) return v;
  double factor = 1;
  Value* source = unscaled_operand(graph, n->in(0), factor, before);
  if (source == n->in(0)) return v;
  scale *= factor;
  std::vector<Value*> operands = n->inputs;
  operands[0] = source;
  return graph.make(n->op(), operands, n->attributes, before);
}

// The probabilities without the guard Where(IsNaN(p), 0, p).
Value* unguarded(Value* v) {
  Node* where = made_by(v, "Where");
  if (!where || !is_scalar(where->in(1), 0) || where->out()->dims() != where->in(2)->dims()) return v;
  Node* nan = made_by(where->in(0), "IsNaN");
  return nan && nan->in(0) == where->in(2) ? where->in(2) : v;
}

bool hides(const Value* v) {
  const auto blocked = scalar_of(v);
  return blocked && *blocked < -1e4;
}
// One mask around scores: which operand of `n` holds the scores. -1: it is none.
int scores_operand(const Node* n);
bool are_scores(const Value* v) {
  double ignored = 1;
  v = unscaled(const_cast<Value*>(v), ignored);
  if (const Node* product = made_by(v, "MatMul")) return !product->in(1)->is_constant() && product->out()->rank() >= 3;
  return v->producer && scores_operand(v->producer) >= 0;
}
int scores_operand(const Node* n) {
  if (n->body) return -1;
  if (n->op() == "Add")
    for (int side = 0; side < 2; ++side)
      if (n->in(side)->dims() == n->out()->dims() && are_scores(n->in(side))) return side;
  if (n->op() == "Where")
    for (int side = 1; side < 3; ++side)
      if (hides(n->in(3 - side)) && n->in(side)->dims() == n->out()->dims() && are_scores(n->in(side))) return side;
  return -1;
}

// Where puts the low number in a score's place. As an addend it must be so low that no score shows beside it: in a row that is masked
// everywhere all are equal then, as they are behind Where.
double addend_for(double low) { return std::isinf(low) ? low : std::min(low, -1e30); }

// All masks on the way to the product, as one addend; null if there is none. `scores` becomes what they are put on.
Value* take_masks(ir::Graph& graph, Value*& scores, Node* before) {
  const int side = scores->producer ? scores_operand(scores->producer) : -1;
  if (side < 0) return nullptr;
  const Node& n = *scores->producer;
  scores = n.in(side);
  Value* inner = take_masks(graph, scores, before);
  if (n.op() == "Add") return inner ? graph.make("Add", {inner, n.in(1 - side)}, {}, before) : n.in(1 - side);
  std::vector<Value*> operands = n.inputs;
  operands[static_cast<std::size_t>(side)] = inner ? inner : number(graph, 0);
  operands[static_cast<std::size_t>(3 - side)] = number(graph, addend_for(*scalar_of(n.in(3 - side))));
  return graph.make("Where", operands, {}, before);
}

// k as [..., T, head] from its transposed form: the transpose is undone, or folded into the one that is there.
Value* untransposed(ir::Graph& graph, Value* kt, Node* before) {
  ir::Ints perm;
  for (int i = 0; i < kt->rank(); ++i) perm.push_back(i);
  if (Node* t = made_by(kt, "Transpose")) perm = perm_of(*t), kt = t->in(0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return transpose_by(graph, kt, perm, before);
}

// Keys or values that were repeated for groups of query heads, before that: Reshape(Expand or Tile of [batch, heads, 1, T, head]).
Value* shared_heads(ir::Graph& graph, Value* v, Node* before) {
  Node* reshape = v->producer && is_reshape(*v->producer) ? v->producer : nullptr;
  Node* expand = reshape ? expand_of(reshape->in(0)) : nullptr;
  if (reshape && !expand) expand = made_by(reshape->in(0), "Tile");
  if (!expand || v->rank() != 4 || expand->in(0)->rank() != 5 || expand->out()->rank() != 5) return v;
  const ir::Dims &one = expand->in(0)->dims(), &all = expand->out()->dims(), &heads = v->dims();
  for (std::size_t d = 0; d < 5; ++d)
    if (d == 2 ? one[d] != ir::Dim(1) : one[d] != all[d]) return v;
  if (all[0] != heads[0] || all[1] * all[2] != heads[1] || all[3] != heads[2] || all[4] != heads[3]) return v;
  Value* shared = reshape_to(graph, expand->in(0), {one[0], one[1], one[3], one[4]}, before);
  return shared ? shared : v;
}

bool last_axis(const Node& softmax) {
  const std::int64_t axis = softmax.attributes.integer("axis", -1);
  return axis == -1 || axis == softmax.out()->rank() - 1;
}

// Nobody else may need the probabilities.
bool only_for(const ir::Graph& graph, const Value* probabilities, const Node& product) {
  return !graph.is_output(probabilities) && std::all_of(probabilities->users.begin(), probabilities->users.end(), [&](const Node* user) {
    return user == &product || user->op() == "IsNaN" || user->op() == "Where";
  });
}

}  // namespace

ir::Node* fuse_attention_at(ir::Graph& graph, ir::Node& product) {
  const int rank = product.out() ? product.out()->rank() : 0;
  if (product.op() != "MatMul" || product.body || (rank != 3 && rank != 4) || product.out()->dtype() != DType::f32) return nullptr;
  Value* probabilities = unguarded(product.in(0));
  Node* softmax = made_by(probabilities, "Softmax");
  if (!softmax || !last_axis(*softmax) || product.in(1)->rank() != rank || !only_for(graph, probabilities, product)) return nullptr;
  Value* scores = softmax->in(0);
  if (!are_scores(scores)) return nullptr;
  Value* mask = take_masks(graph, scores, &product);
  double scale = 1;
  Node* qk = made_by(unscaled(scores, scale), "MatMul");
  if (!qk || qk->out()->rank() != rank || qk->in(0)->rank() != rank || qk->in(1)->rank() != rank) return nullptr;
  if (mask && (mask->rank() > rank || mask->dtype() != DType::f32)) return nullptr;
  const ir::Dims &qd = qk->in(0)->dims(), &kd = qk->in(1)->dims(), &vd = product.in(1)->dims();
  for (int d = 0; d < rank - 2; ++d)   // no broadcast heads
    if (qd[static_cast<std::size_t>(d)] != kd[static_cast<std::size_t>(d)] ||
        qd[static_cast<std::size_t>(d)] != vd[static_cast<std::size_t>(d)])
      return nullptr;
  std::vector<Value*> operands{unscaled_operand(graph, qk->in(0), scale, &product),
                               untransposed(graph, unscaled_operand(graph, qk->in(1), scale, &product), &product), product.in(1)};
  if (rank == 3)
    for (Value*& v : operands) v = reshape_to(graph, v, {ir::Dim(1), v->dims()[0], v->dims()[1], v->dims()[2]}, &product);
  if (std::find(operands.begin(), operands.end(), nullptr) != operands.end()) return nullptr;
  Value *k = shared_heads(graph, operands[1], &product), *v = shared_heads(graph, operands[2], &product);
  if (k->dims()[1] == v->dims()[1]) operands[1] = k, operands[2] = v;
  if (mask) operands.push_back(mask);
  ir::Attributes attributes{{"scale", static_cast<float>(scale)}};
  if (probabilities == product.in(0)) attributes.set("nan_rows", std::int64_t{1});   // no guard makes zeros of them
  Value* fused = graph.make("FusedAttention", operands, attributes, &product);
  Value* out = rank == 3 ? reshape_to(graph, fused, product.out()->dims(), &product) : fused;
  if (!out) return nullptr;
  graph.replace_uses(product.out(), out);
  return fused->producer;
}

namespace {

bool try_fuse(ir::Graph& graph, Node& product) { return fuse_attention_at(graph, product) != nullptr; }
bool run(ir::Graph& graph) { return try_each(graph, try_fuse); }

}  // namespace

Pass pass_fuse_attention() { return {.name = "fuse_attention", .run = run}; }

}  // namespace tenfold::passes
