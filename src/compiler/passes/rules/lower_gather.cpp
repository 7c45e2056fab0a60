// lower_gather: a Gather with one constant index, or with consecutive ones, becomes a Slice, which is a view where a Gather would
// copy.
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
// before: (x f32[4,5])
//   i = i64[1,4]{0,1,2,3}
//   g = Gather(x, i) axis=0
//   y = Relu(g)
// after: (x f32[4,5])
//   to = i64[3]{1,4,5}
//   g = Reshape(x, to) allowzero=1
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

// The first of the indices, if each is one more than the one before.
std::optional<std::int64_t> first_of(const Value* v) {
  const Tensor* t = v->is_constant() ? look(v) : nullptr;
  if (!t || t->size() < 1 || t->size() > 1 << 16) return std::nullopt;
  const auto at = [&](std::int64_t i) { return t->as_int(i); };
  for (std::int64_t i = 1; i < t->size(); ++i)
    if (at(i) <= at(i - 1) || at(i) - 1 != at(i - 1) || at(i) == 0) return std::nullopt;
  return at(0);
}

bool try_lower(ir::Graph& graph, Node& n) {
  if (n.op() != "Gather" || n.body || n.in(0)->is_constant() || n.out()->contents) return false;
  const auto index = first_of(n.in(1));
  const int rank = n.in(0)->rank();
  std::int64_t axis = n.attributes.integer("axis", 0);
  axis = axis < 0 ? axis + rank : axis;
  const ir::Dim extent = n.in(0)->dims()[static_cast<std::size_t>(axis)];
  if (!index || !extent.is_constant()) return false;
  const std::int64_t first = *index + (*index < 0 ? extent.constant() : 0), count = n.in(1)->constant->tensor.size();
  if (first < 0 || first > extent.constant() - count) return false;   // the reference kernel says what is wrong
  const std::int64_t end = first + count;
  Value* part = n.in(0);
  if (end - first < extent.constant())
    part = graph.make("Slice", {part, index_of(graph, first), index_of(graph, end), index_of(graph, axis)}, {}, &n);
  Value* result = reshape_to(graph, part, n.out()->dims(), &n);
  if (!result || (result == n.in(0) && graph.is_output(n.out()))) return false;
  graph.replace_uses(n.out(), result);
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, try_lower); }

}  // namespace

Pass pass_lower_gather() { return {.name = "lower_gather", .run = run}; }

}  // namespace tenfold::passes
