// fold_float8: a product of a dequantized activation of e4m3 with dequantized constant weights of e4m3 becomes one of these, with the
// scales behind it.
//
// before: (x f8e4m3fn[2,16], xs f32[]!, ws f32[]!)
//   w = constant f8e4m3fn[16,8]
//   a = DequantizeLinear(x, xs)
//   b = DequantizeLinear(w, ws)
//   y = MatMul(a, b)
// after: (x f8e4m3fn[2,16])
//   w = constant f8e4m3fn[16,8]
//   s = constant f32[]
//   a = MatMulFloat8(x, w)
//   y = Mul(a, s)
#include "passes/precision/fold_gemms.h"

namespace tenfold::passes {

Pass pass_fold_float8() {
  return {.name = "fold_float8", .run = [](ir::Graph& graph) { return fold_gemms(graph, NarrowProducts::float8); }};
}

}  // namespace tenfold::passes
