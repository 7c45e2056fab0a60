// widen_for_rules: fp16 and bf16 become f32 for the rules that follow, which then meet one type. On GPUs, where layers get their own
// types back after the choice of precision (precision/own_types.h). What no rule changes, and cannot be narrowed again, stays.
//
// before: (x f16[2,3], w f16[3,4]!)
//   p = MatMul(x, w)
//   y = Relu(p)
// after: (x f16[2,3], w f16[3,4]!)
//   a = Cast(x) to="f32"
//   c = Cast(w) to="f32"
//   p = MatMul(a, c)
//   r = Relu(p)
//   y = Cast(r) to="f16"
//
// kept: (x f16[5,1,3], w f16[1,16,3]!, r f16[1,16,4]!)
//   y = LSTM(x, w, r) hidden_size=4
#include "passes/pass.h"
#include "passes/widening.h"

namespace tenfold::passes {

Pass pass_widen_for_rules() {
  return {.name = "widen_for_rules", .run = [](ir::Graph& graph) { return widen(graph, {DType::f16, DType::bf16}, is_recurrent); }};
}

}  // namespace tenfold::passes
