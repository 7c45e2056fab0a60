// quantize_rows_for_gpu: as quantize_rows, for tensor cores: rows are i8, whose sums need no correction, and K is a multiple of 16.
// Layers to which the user gave another 8-bit type are left to quantize_layers_to_float8.
//
// before: (x f32[2,64])
//   w = constant f32[64,4]
//   y = MatMul(x, w)
// after: (x f32[2,64])
//   wq = constant i8[64,4]
//   ws = constant f32[4]
//   q, s = QuantizeRows(x) to="i8"
//   p = MatMulInteger(q, wq)
//   f = Cast(p) to="f32"
//   t = Mul(f, s)
//   y = Mul(t, ws)
//
// kept: (x f32[2,40])
//   w = constant f32[40,4]
//   y = MatMul(x, w)
//
// kept: (x f32[2,64])
//   w = constant f32[64,4]
//   y = MatMul(x, w) numerics={type=f8e4m3fn}
#include "passes/pass.h"
#include "passes/precision/quantize_rows.h"

namespace tenfold::passes {

Pass pass_quantize_rows_for_gpu() {
  return {.name = "quantize_rows_for_gpu", .run = [](ir::Graph& graph) { return quantize_rows(graph, {.type = DType::i8}); }};
}

}  // namespace tenfold::passes
