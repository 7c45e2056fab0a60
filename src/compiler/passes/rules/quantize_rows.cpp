// quantize_rows: GEMMs of a plain model's activations with constant weights become integer GEMMs without calibration data: each row
// of the activations gets its scale at run time, each column of the weights at build time. For CPUs, if a calibration "dynamic"
// permits it.
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

Pass pass_quantize_rows() {
  return {.name = "quantize_rows", .run = [](ir::Graph& graph) { return quantize_rows(graph, {}); }};
}

}  // namespace tenfold::passes
