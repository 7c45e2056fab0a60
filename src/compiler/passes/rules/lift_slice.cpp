// lift_slice: a Slice along a dim that a Reshape split off from another one, with a Transpose that moves it, becomes a Slice of the
// original dim. So the packed queries, keys and values of a GEMM become views of it, instead of being transposed as a whole.
//
// before: (x f32[5,2,24])
//   s = i64[4]{5,2,3,8}
//   first = i64[1]{1}
//   end = i64[1]{2}
//   axis = i64[1]{0}
//   a = Reshape(x, s)
//   b = Transpose(a) perm=[2,1,0,3]
//   c = Slice(b, first, end, axis)
//   y = Relu(c)
// after: (x f32[5,2,24])
//   first = i64[1]{8}
//   end = i64[1]{16}
//   axis = i64[1]{2}
//   to = i64[4]{1,2,5,8}
//   p = Slice(x, first, end, axis)
//   t = Transpose(p) perm=[1,0,2]
//   c = Reshape(t, to) allowzero=1
//   y = Relu(c)
//
// before: (x f32[5,24])
//   s = i64[3]{5,2,12}
//   sizes = i64[2]{1,1}
//   a = Reshape(x, s)
//   b = Transpose(a) perm=[1,0,2]
//   c, d = Split(b, sizes) axis=0
//   y = Add(c, d)
// after: (x f32[5,24])
//   zero = i64[1]{0}
//   half = i64[1]{12}
//   axis = i64[1]{1}
//   whole = i64[1]{24}
//   to = i64[3]{1,5,12}
//   p = Slice(x, zero, half, axis)
//   q = Slice(x, half, whole, axis)
//   c = Reshape(p, to) allowzero=1
//   d = Reshape(q, to) allowzero=1
//   y = Add(c, d)
//
// kept: (x f32[5,2,24])
//   s = i64[4]{5,2,8,3}
//   first = i64[1]{1}
//   end = i64[1]{2}
//   axis = i64[1]{0}
//   a = Reshape(x, s)
//   b = Transpose(a) perm=[3,1,0,2]
//   c = Slice(b, first, end, axis)
//   y = Relu(c)
#include "passes/backward_slice.h"
#include "passes/dim_parts.h"
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

bool moves_elements(const Node* n) { return n && !n->body && (n->op() == "Transpose" || is_reshape(*n)); }

// Transposes and reshapes in front of a value, the first of them first.
std::vector<const Node*> row_before(const Value* v) {
  std::vector<const Node*> row;
  for (; moves_elements(v->producer); v = v->producer->in(0)) row.insert(row.begin(), v->producer);
  return row;
}

// What each result of a Slice or a Split takes of its operand; empty: that is not known.
std::vector<AxisRange> taken(const Node& n) {
  if (const std::optional<AxisRange> one = sliced(n)) return {*one};
  std::vector<AxisRange> parts;
  if (n.op() != "Split" || n.body) return parts;
  const std::int64_t given = n.attributes.integer("axis", 0);
  const auto axis = static_cast<std::size_t>(given < 0 ? given + n.in(0)->rank() : given);
  std::int64_t first = 0;
  for (const Value* out : n.outputs) {
    if (!out || !out->dims()[axis].is_constant()) return {};
    const std::int64_t count = out->dims()[axis].constant();
    parts.push_back({axis, {first, 1, count}});
    first += count;
  }
  return parts;
}

// The part of the source behind the same moves; null: there is no such part.
Value* lifted(ir::Graph& graph, Node& n, Value* source, DimParts moves, const AxisRange& part, const ir::Dims& dims) {
  const auto outer = moves.outermost(part.axis);
  if (!outer || part.at.step != 1 || part.at.count < 1) return nullptr;
  moves.resize(part.axis, part.at.count);
  Value* cut = cut_to(graph, source, {outer->dim, {part.at.first * outer->step, 1, part.at.count * outer->step}}, &n);
  return moves.apply(graph, cut, dims, &n);
}

bool try_lift(ir::Graph& graph, Node& n) {
  const std::vector<AxisRange> parts = taken(n);
  if (parts.empty() || n.in(0)->is_constant() || n.out()->contents) return false;
  const std::vector<const Node*> row = row_before(n.in(0));
  for (std::size_t from = 0; from < row.size(); ++from) {   // the longest row whose parts are known
    Value* source = row[from]->in(0);
    DimParts moves(source->dims());
    std::size_t at = from;
    while (at < row.size() && moves.follow(*row[at])) ++at;
    if (at < row.size() || source->is_constant()) continue;
    if (!moves.moves()) return false;   // the parts are views as they are
    std::vector<Value*> made;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Value* one = lifted(graph, n, source, moves, parts[i], n.outputs[i]->dims());
      if (!one) return false;
      made.push_back(one);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) graph.replace_uses(n.outputs[i], made[i]);
    return true;
  }
  return false;
}

bool run(ir::Graph& graph) { return try_each(graph, try_lift); }

}  // namespace

Pass pass_lift_slice() { return {.name = "lift_slice", .run = run}; }

}  // namespace tenfold::passes
