// round_tokens: packed tokens are padded to a multiple of 64 with tokens that nothing reads. For GPUs, which capture a graph for each
// number of tokens and compute in tiles.
//
// before: (m bool[3,50])
//   o, p = TokenPositions(m)
//   y = Cast(o) to="f32"
// after: (m bool[3,50])
//   o, p = TokenPositions(m) multiple=64
//   y = Cast(o) to="f32"
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

constexpr std::int64_t kMultiple = 64;

bool try_round(ir::Graph& graph, ir::Node& n) {
  if (n.op() != "TokenPositions" || n.attributes.integer("multiple") != 1) return false;
  n.attributes.set("multiple", kMultiple);
  graph.infer(n);   // the symbol's bounds
  for (ir::Value* v : n.outputs) v->names.clear();   // there are more positions than the model has
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, try_round); }

}  // namespace

Pass pass_round_tokens() { return {.name = "round_tokens", .run = run}; }

}  // namespace tenfold::passes
