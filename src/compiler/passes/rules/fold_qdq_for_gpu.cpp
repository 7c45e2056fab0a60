// fold_qdq_for_gpu: as fold_qdq, for layers that tensor cores can compute: they read 16 elements at once and support no zero points
// of weights. A first layer with few channels stays in floats.
//
// before: (x u8[2,16], xs f32[]!, xz u8[]!, ws f32[]!)
//   w = constant i8[16,8]
//   a = DequantizeLinear(x, xs, xz)
//   b = DequantizeLinear(w, ws)
//   y = MatMul(a, b)
// after: (x u8[2,16], xz u8[]!)
//   w = constant i8[16,8]
//   s = constant f32[]
//   a = MatMulInteger(x, w, xz)
//   b = Cast(a) to="f32"
//   y = Mul(b, s)
//
// kept: (x u8[2,3], xs f32[]!, xz u8[]!, ws f32[]!)
//   w = constant i8[3,4]
//   a = DequantizeLinear(x, xs, xz)
//   b = DequantizeLinear(w, ws)
//   y = MatMul(a, b)
#include "passes/precision/fold_gemms.h"

namespace tenfold::passes {

Pass pass_fold_qdq_for_gpu() {
  return {.name = "fold_qdq_for_gpu", .run = [](ir::Graph& graph) { return fold_gemms(graph, NarrowProducts::tensor_integers); }};
}

}  // namespace tenfold::passes
