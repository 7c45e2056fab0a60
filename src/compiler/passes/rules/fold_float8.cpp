// fold_float8: a GEMM or convolution of a dequantized e4m3 activation with dequantized constant e4m3 weights becomes one in e4m3,
// followed by the scales.
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
