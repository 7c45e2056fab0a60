// merge_movement: a Transpose of a Transpose is one, a Reshape of a Reshape is one, and a Transpose that only moves extents of 1
// is a Reshape; pairs that undo each other vanish.
//
// before: (x f32[2,3,4])
//   a = Transpose(x) perm=[0,2,1]
//   b = Transpose(a) perm=[0,2,1]
//   y = Relu(b)
// after: (x f32[2,3,4])
//   y = Relu(x)
//
// before: (x f32[4,7,32])
//   s = i64[4]{7,4,4,8}
//   a = Transpose(x) perm=[1,0,2]
//   b = Reshape(a, s)
//   c = Transpose(b) perm=[1,2,0,3]
//   y = Relu(c)
// after: (x f32[4,7,32])
//   s = i64[4]{4,7,4,8}
//   b = Reshape(x, s) allowzero=1
//   c = Transpose(b) perm=[0,2,1,3]
//   y = Relu(c)
#include "passes/dim_parts.h"
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

bool merge_transposes(ir::Graph& graph, Node& n) {
  Node* first = made_by(n.in(0), "Transpose");
  if (!first) return false;
  const ir::Ints outer = perm_of(n), inner = perm_of(*first);
  ir::Ints both;
  for (std::int64_t axis : outer) both.push_back(inner[static_cast<std::size_t>(axis)]);
  const bool idle = is_identity(both);
  if (idle && graph.is_output(n.out()) && !first->in(0)->producer) return false;
  graph.replace_uses(n.out(), idle ? first->in(0) : graph.make("Transpose", {first->in(0)}, {{"perm", both}}, &n));
  return true;
}

// The order of the extents above 1 decides where elements go.
bool moves_nothing(const Node& n) {
  const ir::Ints perm = perm_of(n);
  std::int64_t last = -1;
  for (std::int64_t axis : perm) {
    if (n.in(0)->dims()[static_cast<std::size_t>(axis)] == ir::Dim(1)) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

bool merge_reshapes(ir::Graph& graph, Node& n) {
  Node* first = n.in(0) ? n.in(0)->producer : nullptr;
  if (!first || !is_reshape(*first)) return false;
  if (first->in(0)->dims() == n.out()->dims() && !graph.is_output(n.out())) {
    graph.replace_uses(n.out(), first->in(0));
    return true;
  }
  Value* direct = reshape_to(graph, first->in(0), n.out()->dims(), &n);
  if (!direct) return false;
  graph.replace_uses(n.out(), direct);
  return true;
}

// A Transpose, reshapes that nobody else reads, and a Transpose: as one, where parts of dims tell it.
bool merge_past_reshapes(ir::Graph& graph, Node& n) {
  std::vector<const Node*> row{&n};
  for (const Node* first = n.in(0)->producer; first; first = first->in(0)->producer) {
    if (first->body || !only_user(graph, first->out()) || (!is_reshape(*first) && first->op() != "Transpose")) return false;
    row.insert(row.begin(), first);
    if (first->op() == "Transpose") break;
  }
  if (row.size() < 3 || row.front()->op() != "Transpose") return false;
  DimParts moves(row.front()->in(0)->dims());
  for (const Node* one : row)
    if (!moves.follow(*one)) return false;
  Value* made = moves.apply(graph, row.front()->in(0), n.out()->dims(), &n);
  if (made) graph.replace_uses(n.out(), made);
  return made != nullptr;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (Node* n : graph.node_list()) {
    if (n->body || n->outputs.size() != 1) continue;
    if (n->op() == "Transpose") {
      if (merge_transposes(graph, *n)) {
        changed = true;
      } else if (moves_nothing(*n) && !graph.is_output(n->out())) {
        if (Value* r = reshape_to(graph, n->in(0), n->out()->dims(), n)) graph.replace_uses(n->out(), r), changed = true;
      } else if (!graph.is_output(n->out()) && merge_past_reshapes(graph, *n)) {
        changed = true;
      }
    } else if (is_reshape(*n)) {
      changed = merge_reshapes(graph, *n) || changed;
    }
  }
  return changed;
}

}  // namespace

Pass pass_merge_movement() { return {.name = "merge_movement", .run = run}; }

}  // namespace tenfold::passes
