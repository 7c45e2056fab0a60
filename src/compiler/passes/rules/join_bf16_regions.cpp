// join_bf16_regions: bf16 GEMMs on CPUs end in f32 sums that have to be rounded. A Region that follows in bf16 (a GELU) is computed
// in the epilogue, from sums that are not rounded yet. The tuner may undo it.
//
// before: (x bf16[8,512], w bf16[512,64]!)
//   t = MatMul(x, w)
//   y = Region(t) body={(bf16) %1=sigmoid.bf16(%0) %2=mul.bf16(%0,%1) -> %2}
// after: (x bf16[8,512], w bf16[512,64]!)
//   y = MatMul(x, w) anchor_inputs=2 body={(bf16) %1=sigmoid.bf16(%0) %2=mul.bf16(%0,%1) -> %2}
//
// kept: (x f32[8,512], w f32[512,64]!)
//   t = MatMul(x, w)
//   y = Region(t) body={(f32) %1=sigmoid.f32(%0) %2=mul.f32(%0,%1) -> %2}
#include "passes/epilogue.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

bool run(ir::Graph& graph) {
  return grow_epilogues(graph, [](const ir::Node& anchor, const ir::Node& region) {
    return anchor.out()->dtype() == DType::bf16 && region.out()->dtype() == DType::bf16 && anchor.op() != "LayerNormalization";
  });
}

}  // namespace

Pass pass_join_bf16_regions() { return {.name = "join_bf16_regions", .run = run}; }

}  // namespace tenfold::passes
