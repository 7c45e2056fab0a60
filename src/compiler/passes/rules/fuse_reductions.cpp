// fuse_reductions: reductions over the last dims join the pointwise nodes around them in one Region, which reads its rows while they
// are in cache: L2 normalization, centering, parts of a softmax or a norm that no rule recognizes. For CPUs.
//
// before: (x f32[4,8])
//   n = ReduceL2(x) axes=[-1]
//   y = Div(x, n)
// after: (x f32[4,8])
//   y = Region(x) body={(f32) %1=mul.f32(%0,%0) %2=reduce_sum.f32(%1) %3=sqrt.f32(%2) %4=div.f32(%0,%3) over=1 -> %4}
//
// before: (x f32[2,3,8], z f32[2,3,8])
//   p = Mul(x, z)
//   y = ReduceMean(p) axes=[2]
// after: (x f32[2,3,8], z f32[2,3,8])
//   y = Region(x, z) body={(f32,f32) %2=mul.f32(%0,%1) %3=reduce_sum.f32(%2) %4=constant.f32(0.125) %5=mul.f32(%3,%4) over=1 -> %5}
//
// kept: (x f32[2,8,16])
//   m = ReduceMean(x) axes=[1]
//   y = Sub(x, m)
//
// kept: (x f32[4,8])
//   last = i64[1]{1}
//   m = ReduceSum(x, last)
//   y = Sub(x, m)
#include "passes/pass.h"
#include "passes/row_chains.h"

namespace tenfold::passes {
namespace {

// Longer rows leave the executor's blocks, and are faster by kernels of their own.
bool run(ir::Graph& graph) { return fuse_row_chains(graph, {.longest = 1024}); }

}  // namespace

Pass pass_fuse_reductions() { return {.name = "fuse_reductions", .run = run}; }

}  // namespace tenfold::passes
