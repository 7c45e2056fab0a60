// fold_qdq: a GEMM or convolution of a dequantized activation with dequantized constant weights becomes an integer one; scales and
// bias follow it as ordinary pointwise operators, which fusion makes its epilogue. Signs and zero points may be any.
//
// before: (x u8[2,3], xs f32[]!, xz u8[]!, ws f32[]!)
//   w = constant i8[3,4]
//   a = DequantizeLinear(x, xs, xz)
//   b = DequantizeLinear(w, ws)
//   y = MatMul(a, b)
// after: (x u8[2,3], xz u8[]!)
//   w = constant i8[3,4]
//   s = constant f32[]
//   a = MatMulInteger(x, w, xz)
//   b = Cast(a) to="f32"
//   y = Mul(b, s)
#include "passes/precision/fold_gemms.h"

namespace tenfold::passes {

Pass pass_fold_qdq() {
  return {.name = "fold_qdq", .run = [](ir::Graph& graph) { return fold_gemms(graph, NarrowProducts::integers); }};
}

}  // namespace tenfold::passes
