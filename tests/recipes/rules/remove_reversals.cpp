// remove_reversals: rows that are reversed twice stay as they were. Recipe 3 of CONTRIBUTING.md, tried by recipes_test.
//
// before: (x f32[2,3])
//   a = ReverseRows(x)
//   b = ReverseRows(a)
//   y = Relu(b)
// after: (x f32[2,3])
//   y = Relu(x)
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

bool run(ir::Graph& graph) {
  bool changed = false;
  for (ir::Node* n : graph.node_list()) {
    if (n->op() != "ReverseRows" || graph.is_output(n->out())) continue;
    const ir::Node* first = n->in(0)->producer;
    if (!first || first->op() != "ReverseRows") continue;
    graph.replace_uses(n->out(), first->in(0));
    changed = true;
  }
  return changed;
}

}  // namespace

Pass pass_remove_reversals() { return {.name = "remove_reversals", .run = run}; }

}  // namespace tenfold::passes
