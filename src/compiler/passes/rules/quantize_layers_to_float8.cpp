// quantize_layers_to_float8: as quantize_rows_for_gpu, in e4m3, for the layers to which the user gave this type.
//
// before: (x f32[2,64])
//   w = constant f32[64,4]
//   y = MatMul(x, w) numerics={type=f8e4m3fn}
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
//   y = MatMul(x, w)
#include "passes/pass.h"
#include "passes/precision/quantize_rows.h"

namespace tenfold::passes {

Pass pass_quantize_layers_to_float8() {
  return {.name = "quantize_layers_to_float8",
          .run = [](ir::Graph& graph) { return quantize_rows(graph, {.type = DType::f8e4m3fn, .usual = false}); }};
}

}  // namespace tenfold::passes
