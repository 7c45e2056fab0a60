// defer_norms: the norm of a GEMM's rows is applied by its readers. The GEMM also computes each row's deviation along with the sum
// that it writes (GemmRowStats). A following GEMM multiplies that sum by weights that contain the norm's scale and have zero mean
// along their columns, so that a row's mean cancels and only the division by the deviation is left. A residual that adds the norm's
// result computes it as it reads the sum; a Region does for all other readers. For GPUs and many rows, where a separate norm costs a
// write and a read of each row; the builder keeps this form if the whole graph is faster.
//
// before: (x f32[1100,8], w f32[8,16]!, r f32[1100,16], g f32[16]!, h f32[16]!, u f32[16,6]!, v f32[6,16]!, k f32[16]!, l f32[16]!)
//   n = GemmLayerNorm(x, w, g, h, _, r)
//   e = MatMul(n, u) anchor_inputs=2 body={(f32) %1=abs.f32(%0) -> %1}
//   y = GemmLayerNorm(e, v, k, l, _, n)
// after: (x f32[1100,8], w f32[8,16]!, r f32[1100,16], g f32[16]!, h f32[16]!, v f32[6,16]!, k f32[16]!, l f32[16]!)
//   gu = constant f32[16,6]
//   b = constant f32[6]
//   s, i, o = GemmRowStats(x, w, _, r)
//   e = MatMul(s, gu, i, b) anchor_inputs=2 body={(f32,f32,f32) %3=mul.f32(%0,%1) %4=add.f32(%3,%2) %5=abs.f32(%4) -> %5}
//   t, j, p = GemmRowStats(e, v, h, s, i, o, g)
//   y = Region(t, j, p, k, l) body={(f32,f32,f32,f32,f32) %5=mul.f32(%0,%1) %6=sub.f32(%5,%2) %7=mul.f32(%6,%3) %8=add.f32(%7,%4) -> %8}
//
// kept: (x f32[1100,8], w f32[8,16]!, g f32[16]!, h f32[16]!)
//   n = GemmLayerNorm(x, w, g, h)
//   y = Softmax(n)
#include <algorithm>
#include <map>

#include "passes/deferred_norms.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::BodyBuilder;
using ir::Node;
using ir::Prim;
using ir::Value;

constexpr std::int64_t kFewRows = 1024;  // whose norms cost little

using Norm = DeferredNorm;
using Norms = std::map<const Value*, Norm>;

bool has_many_rows(const ir::Graph& graph, const Node& n) { return rows_of(graph, n).upper >= kFewRows; }

Norm defer(ir::Graph& graph, Node& n, const Norms& norms) {
  std::vector<Value*> operands{n.in(0), n.in(1), n.in(4), n.in(5)};
  if (const auto added = norms.find(n.in(5)); added != norms.end()) {
    const Norm& norm = added->second;
    operands[2] = sum_of_rows(graph, n.in(4), norm.bias), operands[3] = norm.sum;
    operands.insert(operands.end(), {norm.inverse, norm.offset, norm.scale});
  }
  while (!operands.back()) operands.pop_back();
  const Node* made = graph.add("GemmRowStats", operands, {{"epsilon", n.attributes.number("epsilon")}}, 3, n.name, &n);
  if (n.outputs.size() > 1) graph.replace_uses(n.outputs[1], made->outputs[0]);
  return {made->outputs[0], made->outputs[1], made->outputs[2], n.in(2), n.in(3)};
}

// The product of what the norm would make, out of that of the sum.
void multiply_sum(ir::Graph& graph, Node& n, const Norm& norm) {
  Value* w = n.in(1);
  const DType type = w->dtype();
  const std::vector<Value*> constants = centered(graph, w, norm);
  BodyBuilder b({type, DType::f32, type});
  ir::Body body = b.finish({narrow(b, b.binary(Prim::add, b.binary(Prim::mul, wide(b, 0), 1), wide(b, 2)), type)});
  Node product;
  product.def = n.def, product.attributes = n.attributes, product.name = n.name, product.numerics = n.numerics, product.anchor_inputs = 2;
  product.inputs = {norm.sum, constants[0], norm.inverse, constants[1]};
  append_epilogue(n, std::move(body), product);
  graph.replace_uses(n.out(), graph.add(std::move(product), 1, &n)->out());
}

// What the norm makes, for all readers but those that do without.
void compute(ir::Graph& graph, Node& n, const Norm& norm, const std::vector<Node*>& without) {
  const DType type = n.out()->dtype();
  BodyBuilder b({type, DType::f32, DType::f32, norm.scale->dtype(), norm.bias->dtype()});
  const auto normal = b.binary(Prim::mul, b.binary(Prim::sub, b.binary(Prim::mul, wide(b, 0), 1), 2), wide(b, 3));
  Node region;
  region.def = &graph.registry().get("Region"), region.name = n.name + "_norm";
  region.inputs = {norm.sum, norm.inverse, norm.offset, norm.scale, norm.bias};
  region.body = b.finish({narrow(b, b.binary(Prim::add, normal, wide(b, 4)), type)});
  graph.replace_uses(n.out(), graph.add(std::move(region), 1, &n)->out());
  for (Node* user : without) graph.set_input(*user, user->op() == "MatMul" ? 0 : 5, n.out());
}

bool run(ir::Graph& graph) {
  Norms norms;
  for (Node* n : graph.node_list()) {  // a norm stands before its readers
    Value* v = n->op() == "MatMul" ? n->in(0) : nullptr;
    if (const auto norm = norms.find(v); norm != norms.end() && multiplies(*n, v)) multiply_sum(graph, *n, norm->second);
    if (n->op() != "GemmLayerNorm" || !has_many_rows(graph, *n)) continue;
    Value* y = n->out();
    std::vector<Node*> without;
    for (Node* user : y->users)
      if (multiplies(*user, y) || (adds(*user, y) && has_many_rows(graph, *user))) without.push_back(user);
    if (!norms.contains(n->in(5)) && without.empty()) continue;
    const bool needed = graph.is_output(y) || without.size() < y->users.size();
    norms.emplace(y, defer(graph, *n, norms));
    if (needed) compute(graph, *n, norms.at(y), without);
  }
  return !norms.empty();
}

}  // namespace

Pass pass_defer_norms() { return {.name = "defer_norms", .run = run}; }

}  // namespace tenfold::passes
