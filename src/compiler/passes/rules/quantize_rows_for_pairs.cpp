// quantize_rows_for_pairs: as quantize_rows, for CPUs whose instruction adds two int8 products in 16 bits (AVX2). Two large weights
// overflow it and take twice as long (kernels/int8/int8.h, Int8Class): with a quarter fewer levels nearly all pairs fit.
//
// before: (x f32[2,64])
//   w = constant f32[64,4]
//   y = MatMul(x, w)
// after: (x f32[2,64])
//   z = u8[]{128}
//   wq = constant i8[64,4]
//   ws = constant f32[4]
//   q, s = QuantizeRows(x)
//   p = MatMulInteger(q, wq, z)
//   f = Cast(p) to="f32"
//   t = Mul(f, s)
//   y = Mul(t, ws)
//
// kept: (x f32[2,8])
//   w = constant f32[8,4]
//   y = MatMul(x, w)
//
// kept: (x f32[2,64], w f32[64,4])
//   y = MatMul(x, w)
#include "passes/pass.h"
#include "passes/precision/quantize_rows.h"

namespace tenfold::passes {

Pass pass_quantize_rows_for_pairs() {
  return {.name = "quantize_rows_for_pairs", .run = [](ir::Graph& graph) { return quantize_rows(graph, {.max = 95}); }};
}

}  // namespace tenfold::passes
