// fuse_norm_block_scaled: RMSNormalization of a few rows goes into the products with weights of 4 or 8 bits that alone read it, each of
// which takes it anew: to read a row again costs less than a launch. For GPUs; the tuner undoes it where that is not faster
// (tune/choice/unfuse.h).
//
// before: (x f16[1,32], g f16[32]!, w i4[32,4]!, s f32[2,4]!, u i4[32,4]!, t f32[2,4]!)
//   n = RMSNormalization(x, g)
//   p = MatMulBlockScaled(n, w, s) block_size=16
//   y = MatMulBlockScaled(n, u, t, p) anchor_inputs=3 block_size=16 body={(f16,f16) %2=mul.f16(%1,%0) -> %2}
// after: (x f16[1,32], g f16[32]!, w i4[32,4]!, s f32[2,4]!, u i4[32,4]!, t f32[2,4]!)
//   p = NormMatMulBlockScaled(x, w, s, _, g) block_size=16
//   y = NormMatMulBlockScaled(x, u, t, _, g, p) anchor_inputs=5 block_size=16 body={(f16,f16) %2=mul.f16(%1,%0) -> %2}
//
// kept: (x f16[100,32], g f16[32]!, w i4[32,4]!, s f32[2,4]!)
//   n = RMSNormalization(x, g)
//   y = MatMulBlockScaled(n, w, s) block_size=16
//
// kept: (x f16[1,32], g f16[32]!, w i4[32,4]!, s f32[2,4]!)
//   n = RMSNormalization(x, g)
//   p = MatMulBlockScaled(n, w, s) block_size=16
//   y = Softmax(n)
//   return p, y
//
// kept: (x f32[1,32], g f32[32]!, w i4[32,4]!, s f32[2,4]!)
//   n = RMSNormalization(x, g)
//   y = MatMulBlockScaled(n, w, s) block_size=16
#include <algorithm>

#include "ir/graph.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

constexpr std::int64_t kFewRows = 8;   // as many as one kernel multiplies at once (backends/cuda/codegen/gemm/block_scaled.h)

bool takes_norm(const ir::Graph& graph, const Node& n, const Value* rows) {
  if (n.op() != "MatMulBlockScaled" || n.in(0) != rows || std::count(n.inputs.begin(), n.inputs.end(), rows) != 1) return false;
  if (n.outputs.size() != 1 || rows->rank() < 2 || rows->rank() != n.out()->rank()) return false;
  if (rows->dtype() == DType::f32 && !n.numerics.allows(ir::Rounding::tf32)) return false;   // tensor cores would not take it
  const ir::Dims& dims = rows->dims();
  return ir::product(std::span(dims).first(dims.size() - 1)).bounds(graph.box()).upper <= kFewRows;
}

void fuse(ir::Graph& graph, Node& n, const Node& norm) {
  const auto own = static_cast<std::size_t>(n.anchor_inputs >= 0 ? n.anchor_inputs : static_cast<int>(n.inputs.size()));
  Node fused;
  fused.def = &graph.registry().get("NormMatMulBlockScaled"), fused.name = n.name, fused.numerics = n.numerics;
  fused.attributes = n.attributes;
  fused.attributes.set("epsilon", norm.attributes.number("epsilon"));
  fused.inputs = {norm.in(0), n.in(1), n.in(2), own > 3 ? n.in(3) : nullptr, norm.in(1)};
  if (n.body) {
    fused.body = n.body, fused.anchor_inputs = static_cast<int>(fused.inputs.size());
    fused.inputs.insert(fused.inputs.end(), n.inputs.begin() + static_cast<std::ptrdiff_t>(own), n.inputs.end());
  }
  graph.replace_uses(n.out(), graph.add(std::move(fused), 1, &n)->out());
  graph.erase(n);
}

bool try_fuse(ir::Graph& graph, Node& norm) {
  if (norm.outputs.size() != 1 || graph.is_output(norm.out()) || norm.out()->users.empty()) return false;
  const Value* rows = norm.out();
  const std::int64_t axis = norm.attributes.integer("axis");
  if (norm.body || norm.in(0)->dtype() != rows->dtype() || norm.in(1)->dims() != ir::Dims{rows->dims().back()}) return false;
  if (axis != -1 && axis != rows->rank() - 1) return false;
  const std::vector<Node*> readers(rows->users.begin(), rows->users.end());
  if (!std::all_of(readers.begin(), readers.end(), [&](const Node* n) { return takes_norm(graph, *n, rows); })) return false;
  for (Node* n : readers) fuse(graph, *n, norm);
  graph.erase(norm);
  return true;
}

bool run(ir::Graph& graph) {
  std::vector<Node*> norms;   // only these: products that read them go
  for (Node* n : graph.node_list())
    if (n->op() == "RMSNormalization") norms.push_back(n);
  bool changed = false;
  for (Node* norm : norms) changed = try_fuse(graph, *norm) || changed;
  return changed;
}

}  // namespace

Pass pass_fuse_norm_block_scaled() { return {.name = "fuse_norm_block_scaled", .run = run}; }

}  // namespace tenfold::passes
