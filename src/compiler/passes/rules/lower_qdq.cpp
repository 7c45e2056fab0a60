// lower_qdq: quantization and dequantization of activations become Regions, so that GEMMs, pooling and sums absorb them; a
// dequantized constant that no integer GEMM took becomes a float constant at build time.
//
// before: (x u8[2,3])
//   s = f32[]{0.5}
//   z = u8[]{3}
//   a = DequantizeLinear(x, s, z)
//   r = QuantizeLinear(a, s)
// after: (x u8[2,3])
//   a = Region(x) body={(u8) %1=cast.f32(%0) %2=constant.f32(3.0) %3=sub.f32(%1,%2) %4=constant.f32(0.5) %5=mul.f32(%3,%4) -> %5}
//   r = Region(a) body={(f32) %1=constant.f32(0.5) %2=div.f32(%0,%1) %3=round_even.f32(%2) %4=saturate.u8(%3) -> %4}
#include "passes/precision/quantize_regions.h"

namespace tenfold::passes {

Pass pass_lower_qdq() {
  return {.name = "lower_qdq", .run = [](ir::Graph& graph) { return quantize_regions(graph, false); }};
}

}  // namespace tenfold::passes
