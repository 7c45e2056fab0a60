// fuse_skip_layer_norm: an addition and the LayerNormalization that is its only reader become one node: embeddings, or a residual
// after a GEMM. For GPUs, where a GEMM without residual and a norm that adds it are faster than the other way round.
//
// before: (i i64[2,3], t f32[10,8]!, p f32[3,8]!, g f32[8]!, b f32[8]!)
//   e = Gather(t, i)
//   s = Add(e, p)
//   y = LayerNormalization(s, g, b)
// after: (i i64[2,3], t f32[10,8]!, p f32[3,8]!, g f32[8]!, b f32[8]!)
//   y = SkipLayerNorm(g, b, t, i, p)
//
// kept: (x f32[2,3,8], z f32[2,3,8], g f32[8]!, b f32[8]!)
//   s = Add(x, z)
//   n = LayerNormalization(s, g, b)
//   y = Mul(n, s)
#include "ops/fold.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

constexpr std::size_t kMaxTerms = 4;

// The terms of a sum that nothing else reads.
void collect(const ir::Graph& graph, Value* v, std::vector<Value*>& terms) {
  const Node* add = made_by(v, "Add");
  if (!add || !only_user(graph, v)) return terms.push_back(v);
  collect(graph, add->in(0), terms);
  collect(graph, add->in(1), terms);
}
const Node* lookup(const ir::Graph& graph, const Value* v, ir::Dim width) {
  const Node* gather = made_by(v, "Gather");
  if (!gather || !only_user(graph, v) || gather->in(0)->rank() != 2 || gather->attributes.integer("axis", 0) != 0) return nullptr;
  return gather->in(0)->dims()[1] == width ? gather : nullptr;
}

bool try_fuse(ir::Graph& graph, Node& n) {
  if (n.op() != "LayerNormalization" || n.body || n.outputs.size() != 1 || !n.in(2) || n.in(0)->rank() < 2) return false;
  const std::int64_t axis = n.attributes.integer("axis", -1);
  const ir::Dim width = n.in(0)->dims().back();
  if ((axis != -1 && axis != n.in(0)->rank() - 1) || n.in(1)->dims() != ir::Dims{width} || n.in(2)->dims() != ir::Dims{width}) return false;
  std::vector<Value*> terms, operands{n.in(1), n.in(2)};
  if (!made_by(n.in(0), "Add")) return false;
  collect(graph, n.in(0), terms);
  Value* constant = nullptr;   // all constants in one
  int tables = 0, others = 0;
  for (Value* v : terms) {
    if (const Node* gather = lookup(graph, v, width)) {
      operands.push_back(gather->in(0)), operands.push_back(gather->in(1)), ++tables;
    } else if (v->is_constant() && v->rank() > 0 && v->dims().back() == width) {
      constant = constant ? ops::fold(graph, "Add", {constant, v}, {}, v->name) : v;
    } else if (v->dims() == n.out()->dims()) {
      operands.push_back(v), operands.push_back(nullptr), ++others;
    } else {
      return false;
    }
  }
  if (terms.size() < 2 || tables + others == 0 || n.out()->dtype() != DType::f32) return false;
  if (constant) operands.push_back(constant), operands.push_back(nullptr);
  if (operands.size() > 2 + 2 * kMaxTerms) return false;
  if (!operands.back()) operands.pop_back();
  Value* y = graph.make("SkipLayerNorm", operands, {{"epsilon", n.attributes.number("epsilon")}}, &n);
  if (y->dims() != n.out()->dims()) return false;
  graph.replace_uses(n.out(), y);
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, try_fuse); }

}  // namespace

Pass pass_fuse_skip_layer_norm() { return {.name = "fuse_skip_layer_norm", .run = run}; }

}  // namespace tenfold::passes
