// lower_gemm: Gemm becomes MatMul with its bias as an Add, so that other rules meet one form.
//
// before: (x f32[4,8], w f32[16,8]!, b f32[16]!)
//   y = Gemm(x, w, b) transB=1
// after: (x f32[4,8], w f32[16,8]!, b f32[16]!)
//   t = Transpose(w) perm=[1,0]
//   p = MatMul(x, t)
//   y = Add(p, b)
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

ir::Value* scaled(ir::Graph& graph, ir::Value* v, float factor, ir::Node* before) {
  if (factor == 1.0f) return v;
  return graph.make("Mul", {v, number(graph, factor)}, {}, before);
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (ir::Node* n : graph.node_list()) {
    if (n->op() != "Gemm" || n->body || n->out()->dtype() != DType::f32) continue;
    const auto transposed = [&](ir::Value* v, const char* flag) {
      return n->attributes.integer(flag, 0) ? graph.make("Transpose", {v}, {{"perm", ir::Ints{1, 0}}}, n) : v;
    };
    ir::Value* product = graph.add("MatMul", {transposed(n->in(0), "transA"), transposed(n->in(1), "transB")}, {}, 1, n->name, n)->out();
    product->producer->numerics = n->numerics;
    product = scaled(graph, product, n->attributes.number("alpha", 1.0f), n);
    if (n->in(2)) product = graph.make("Add", {product, scaled(graph, n->in(2), n->attributes.number("beta", 1.0f), n)}, {}, n);
    graph.replace_uses(n->out(), product);
    changed = true;
  }
  return changed;
}

}  // namespace

Pass pass_lower_gemm() { return {.name = "lower_gemm", .run = run}; }

}  // namespace tenfold::passes
