// join_regions: on devices that compute any epilogue in registers, a whole Region joins the GEMM before it: one step less. The tuner
// may undo it.
//
// before: (x f32[8,512], w f32[512,64]!)
//   t = MatMul(x, w)
//   y = Region(t) body={(f32) %1=sigmoid.f32(%0) %2=mul.f32(%0,%1) -> %2}
// after: (x f32[8,512], w f32[512,64]!)
//   y = MatMul(x, w) anchor_inputs=2 body={(f32) %1=sigmoid.f32(%0) %2=mul.f32(%0,%1) -> %2}
#include "passes/epilogue.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

bool run(ir::Graph& graph) {
  return grow_epilogues(graph, [](const ir::Node&, const ir::Node&) { return true; });
}

}  // namespace

Pass pass_join_regions() { return {.name = "join_regions", .run = run}; }

}  // namespace tenfold::passes
