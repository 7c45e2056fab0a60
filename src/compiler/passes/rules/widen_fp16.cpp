// widen_fp16: fp16 and bf16 are computed in f32, and rounded at the outputs of the graph. For CPUs without bf16 GEMMs.
//
// before: (x f16[2,3], w f16[3,4]!, b f16[4]!)
//   p = MatMul(x, w)
//   s = Add(p, b)
//   y = Relu(s)
// after: (x f16[2,3], w f16[3,4]!, b f16[4]!)
//   a = Cast(x) to="f32"
//   c = Cast(w) to="f32"
//   p = MatMul(a, c)
//   d = Cast(b) to="f32"
//   s = Add(p, d)
//   r = Relu(s)
//   y = Cast(r) to="f16"
//
// before: (i i64[5], t bf16[9,4]!)
//   g = Gather(t, i)
//   y = Softmax(g)
// after: (i i64[5], t bf16[9,4]!)
//   g = Gather(t, i)
//   a = Cast(g) to="f32"
//   s = Softmax(a)
//   y = Cast(s) to="bf16"
//
// kept: (x f16[2,3])
//   k = i64[2]{3,2}
//   y = Reshape(x, k)
#include "passes/pass.h"
#include "passes/widening.h"

namespace tenfold::passes {

Pass pass_widen_fp16() {
  return {.name = "widen_fp16", .run = [](ir::Graph& graph) { return widen(graph, {DType::f16, DType::bf16}); }};
}

}  // namespace tenfold::passes
