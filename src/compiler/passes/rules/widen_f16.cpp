// widen_f16: fp16 is computed in f32, as by widen_fp16, and bf16 stays. For CPUs with bf16 GEMMs.
//
// before: (x f16[2,3], w f16[3,4]!)
//   y = MatMul(x, w)
// after: (x f16[2,3], w f16[3,4]!)
//   a = Cast(x) to="f32"
//   b = Cast(w) to="f32"
//   p = MatMul(a, b)
//   y = Cast(p) to="f16"
//
// kept: (x bf16[2,3], w bf16[3,4]!)
//   y = MatMul(x, w)
#include "passes/pass.h"
#include "passes/widening.h"

namespace tenfold::passes {

Pass pass_widen_f16() { return {.name = "widen_f16", .run = [](ir::Graph& graph) { return widen(graph, {DType::f16}); }}; }

}  // namespace tenfold::passes
