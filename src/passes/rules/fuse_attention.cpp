// fuse_attention: softmax(q k^T * scale + mask) v, as torch 1.x to 2.x exporters write it, becomes one FusedAttention.
//
// The scale may stand on q, on k, on both, or on the scores (as Mul or Div); the mask may be an Add or a Where; torch's guard
// against rows that are masked everywhere (Where(IsNaN(p), 0, p)) is what FusedAttention does anyway.
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
//   y = FusedAttention(q, k, v, m) scale=0.5
#include "passes/match.h"
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
    if (mul && scalar_of(mul->in(1))) scale *= *scalar_of(mul->in(1)), v = mul->in(0);
    else if (mul && scalar_of(mul->in(0))) scale *= *scalar_of(mul->in(0)), v = mul->in(1);
    else if (div && scalar_of(div->in(1)) && *scalar_of(div->in(1)) != 0) scale /= *scalar_of(div->in(1)), v = div->in(0);
    else return v;
  }
}

// The probabilities without the guard Where(IsNaN(p), 0, p).
Value* unguarded(Value* v) {
  Node* where = made_by(v, "Where");
  if (!where || !is_scalar(where->in(1), 0)) return v;
  Node* nan = made_by(where->in(0), "IsNaN");
  return nan && nan->in(0) == where->in(2) ? where->in(2) : v;
}

struct Scores {
  Value *q = nullptr, *kt = nullptr, *mask = nullptr;
  double scale = 1;
};

// A mask that is added, or one that replaces scores by a huge negative constant, as an addend.
Value* take_mask(ir::Graph& graph, Value*& scores, Node* before) {
  if (Node* add = made_by(scores, "Add")) {
    for (int side = 0; side < 2; ++side) {
      double ignored = 1;
      if (made_by(unscaled(add->in(side), ignored), "MatMul") && add->in(side)->dims() == add->out()->dims()) {
        Value* mask = add->in(1 - side);
        scores = add->in(side);
        return mask;
      }
    }
  }
  if (Node* where = made_by(scores, "Where")) {
    const auto blocked = scalar_of(where->in(2));
    if (blocked && *blocked < -1e4 && where->in(1)->dims() == where->out()->dims()) {
      Tensor zero(DType::f32, {});
      scores = where->in(1);
      return graph.make("Where", {where->in(0), graph.add_constant(std::move(zero)), where->in(2)}, {}, before);
    }
  }
  return nullptr;
}

// k as [batch, heads, T, head] from its transposed form: the transpose is undone, or folded into the one that is there.
Value* untransposed(ir::Graph& graph, Value* kt, Node* before) {
  ir::Ints perm{0, 1, 3, 2};
  if (Node* t = made_by(kt, "Transpose")) {
    perm = t->attributes.ints("perm", {3, 2, 1, 0});
    std::swap(perm[2], perm[3]);
    if (perm == ir::Ints{0, 1, 2, 3}) return t->in(0);
    kt = t->in(0);
  }
  return graph.make("Transpose", {kt}, {{"perm", perm}}, before);
}

bool last_axis(const Node& softmax) {
  const std::int64_t axis = softmax.attributes.integer("axis", -1);
  return axis == -1 || axis == softmax.out()->rank() - 1;
}

bool try_fuse(ir::Graph& graph, Node& product) {
  if (product.op() != "MatMul" || product.body || product.out()->rank() != 4 || product.out()->dtype() != DType::f32) return false;
  Value* probabilities = unguarded(product.in(0));
  Node* softmax = made_by(probabilities, "Softmax");
  if (!softmax || !last_axis(*softmax) || product.in(1)->rank() != 4) return false;
  for (const Node* user : probabilities->users)   // nobody else may need the probabilities
    if (user != &product && user->op() != "IsNaN" && user->op() != "Where") return false;
  if (graph.is_output(probabilities)) return false;
  Scores s;
  Value* scores = softmax->in(0);
  s.mask = take_mask(graph, scores, &product);
  Node* qk = made_by(unscaled(scores, s.scale), "MatMul");
  if (!qk || qk->out()->rank() != 4 || qk->in(0)->rank() != 4 || qk->in(1)->rank() != 4) return false;
  s.q = unscaled(qk->in(0), s.scale);
  s.kt = unscaled(qk->in(1), s.scale);
  const ir::Dims &q = s.q->dims(), &kt = s.kt->dims(), &v = product.in(1)->dims();
  if (q[0] != kt[0] || q[1] != kt[1] || q[0] != v[0] || q[1] != v[1]) return false;   // no broadcast heads
  if (s.mask && (s.mask->rank() > 4 || s.mask->dtype() != DType::f32)) return false;
  std::vector<Value*> operands{s.q, untransposed(graph, s.kt, &product), product.in(1)};
  if (s.mask) operands.push_back(s.mask);
  Value* out = graph.make("FusedAttention", operands, {{"scale", static_cast<float>(s.scale)}}, &product);
  graph.replace_uses(product.out(), out);
  return true;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (Node* n : graph.node_list()) changed = try_fuse(graph, *n) || changed;
  return changed;
}

}  // namespace

Pass pass_fuse_attention() { return {.name = "fuse_attention", .run = run}; }

}  // namespace tenfold::passes
