// fuse_regions: chains of pointwise nodes become one Region, whatever their length.
//
// before: (x f32[4,8], b f32[8])
//   s = Add(x, b)
//   t = Tanh(s)
//   y = Mul(t, x)
// after: (x f32[4,8], b f32[8])
//   y = Region(x, b) body={(f32,f32) %2=add.f32(%0,%1) %3=tanh.f32(%2) %4=mul.f32(%3,%0) -> %4}
#include "passes/bodies.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

// A producer joins its reader when it is read there only and nothing is computed twice: the dims are equal. Gives the region that
// takes the reader's place, or null.
ir::Node* absorb_one(ir::Graph& graph, ir::Node& n) {
  const std::optional<ir::Body> own = body_of(n);
  if (!own) return nullptr;
  for (ir::Value* v : n.inputs) {
    ir::Node* producer = v->producer;
    if (!producer || producer->out() != v || v->dims() != n.out()->dims() || !read_by_alone(graph, v, n)) continue;
    const std::optional<ir::Body> first = body_of(*producer);
    if (first && producer->inputs.size() + n.inputs.size() <= kMaxRegionOperands && first->code.size() + own->code.size() <= kMaxCode)
      return join_as_region(graph, n, v, *first, *own);
  }
  return nullptr;
}

// Producers stand before readers, so what a node takes in has been visited, and never becomes able to take in more by that.
bool run(ir::Graph& graph) {
  bool changed = false;
  for (ir::Node* n : graph.node_list())
    while ((n = absorb_one(graph, *n))) changed = true;
  return changed;
}

}  // namespace

Pass pass_fuse_regions() { return {.name = "fuse_regions", .run = run}; }

}  // namespace tenfold::passes
