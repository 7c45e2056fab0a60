// quantize_rows_to_float8: as quantize_rows_for_gpu, in e4m3, for all layers that may compute in it, if a calibration prefers it to
// i8. quantize_layers_to_float8 takes only those to which the user gave the type.
//
// before: (x f32[2,64])
//   w = constant f32[64,4]
//   y = MatMul(x, w)
// after: (x f32[2,64])
//   wq = constant f8e4m3fn[64,4]
//   ws = constant f32[4]
//   q, s = QuantizeRows(x) to="f8e4m3fn"
//   p = MatMulFloat8(q, wq)
//   t = Mul(p, s)
//   y = Mul(t, ws)
//
// kept: (x f32[2,64])
//   w = constant f32[64,4]
//   y = MatMul(x, w) numerics={type=i8}
#include "passes/pass.h"
#include "passes/precision/quantize_rows.h"

namespace tenfold::passes {

Pass pass_quantize_rows_to_float8() {
  return {.name = "quantize_rows_to_float8", .run = [](ir::Graph& graph) { return quantize_rows(graph, {.type = DType::f8e4m3fn}); }};
}

}  // namespace tenfold::passes
