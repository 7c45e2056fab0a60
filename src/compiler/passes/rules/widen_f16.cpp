// widen_f16: fp16 is computed in f32, as by widen_fp16, and bf16 stays, but for recurrences, which no kernel computes in it. For CPUs with
// bf16 GEMMs.
//
// before: (x f16[2,3], w f16[3,4]!)
//   y = MatMul(x, w)
// after: (x f16[2,3], w f16[3,4]!)
//   a = Cast(x) to="f32"
//   b = Cast(w) to="f32"
//   p = MatMul(a, b)
//   y = Cast(p) to="f16"
//
// before: (x bf16[5,1,3], w bf16[1,16,3]!, r bf16[1,16,4]!)
//   y = LSTM(x, w, r) hidden_size=4
// after: (x bf16[5,1,3], w bf16[1,16,3]!, r bf16[1,16,4]!)
//   a = Cast(x) to="f32"
//   b = Cast(w) to="f32"
//   c = Cast(r) to="f32"
//   s = LSTM(a, b, c) hidden_size=4
//   y = Cast(s) to="bf16"
//
// kept: (x bf16[2,3], w bf16[3,4]!)
//   y = MatMul(x, w)
#include "passes/pass.h"
#include "passes/widening.h"

namespace tenfold::passes {

Pass pass_widen_f16() {
  return {.name = "widen_f16", .run = [](ir::Graph& graph) {
            const bool halves = widen(graph, {DType::f16});
            return widen(graph, {DType::bf16}, [](const ir::Node& n) { return !is_recurrent(n); }) || halves;
          }};
}

}  // namespace tenfold::passes
