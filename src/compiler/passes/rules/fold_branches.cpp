// fold_branches: an If whose condition is known is the branch that is taken.
//
// before: (x f32[2,3])
//   c = bool[]{1}
//   y = If(c, x) graphs=[
//     (a f32[2,3])
//       r = Relu(a)
//       return r
//     (b f32[2,3])
//       s = Tanh(b)
//       return s
//   ]
// after: (x f32[2,3])
//   y = Relu(x)
//
// kept: (c bool[], x f32[2,3])
//   y = If(c, x) graphs=[
//     (a f32[2,3])
//       r = Relu(a)
//       return r
//     (b f32[2,3])
//       s = Tanh(b)
//       return s
//   ]
#include "passes/inline_body.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

bool fold(ir::Graph& graph, ir::Node& node) {
  if (node.def->traits.control != ir::Control::branch) return false;
  const std::optional<double> condition = scalar_of(node.in(0));
  if (!condition) return false;
  const ir::Graph& taken = *node.graphs.at(*condition != 0 ? 0 : 1);
  if (!can_be_inlined(taken)) return false;
  const std::vector<ir::Value*> operands(node.inputs.begin() + 1, node.inputs.end());
  replace_results(graph, node, InlinedBody(graph, node, taken).add(operands, true));
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, fold); }

}  // namespace

Pass pass_fold_branches() { return {.name = "fold_branches", .run = run}; }

}  // namespace tenfold::passes
