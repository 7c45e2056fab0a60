// lower_gather: a Gather of one constant index is a Slice, which becomes a view where a Gather copies.
//
// before: (x f32[3,4,5])
//   i = i64[]{-1}
//   g = Gather(x, i) axis=0
//   y = Relu(g)
// after: (x f32[3,4,5])
//   first = i64[1]{2}
//   end = i64[1]{3}
//   axis = i64[1]{0}
//   to = i64[2]{4,5}
//   s = Slice(x, first, end, axis)
//   g = Reshape(s, to) allowzero=1
//   y = Relu(g)
//
// kept: (x f32[3,4,5])
//   i = i64[3]{2,0,1}
//   y = Gather(x, i) axis=0
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

Value* index_of(ir::Graph& graph, std::int64_t value) {
  Tensor t(DType::i64, {1});
  *t.mutable_data<std::int64_t>() = value;
  return graph.add_constant(std::move(t));
}

bool try_lower(ir::Graph& graph, Node& n) {
  if (n.op() != "Gather" || n.body || n.in(0)->is_constant() || n.out()->contents) return false;
  const auto index = scalar_of(n.in(1));
  const int rank = n.in(0)->rank();
  std::int64_t axis = n.attributes.integer("axis", 0);
  axis = axis < 0 ? axis + rank : axis;
  const ir::Dim extent = n.in(0)->dims()[static_cast<std::size_t>(axis)];
  if (!index || !extent.is_constant()) return false;
  const auto first = static_cast<std::int64_t>(*index) + (*index < 0 ? extent.constant() : 0);
  if (first < 0 || first >= extent.constant()) return false;   // the reference kernel says what is wrong
  Value* slice = graph.make("Slice", {n.in(0), index_of(graph, first), index_of(graph, first + 1), index_of(graph, axis)}, {}, &n);
  Value* result = reshape_to(graph, slice, n.out()->dims(), &n);
  if (!result) return false;
  graph.replace_uses(n.out(), result);
  return true;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (Node* n : graph.node_list()) changed = try_lower(graph, *n) || changed;
  return changed;
}

}  // namespace

Pass pass_lower_gather() { return {.name = "lower_gather", .run = run}; }

}  // namespace tenfold::passes
