// lower_qdq_for_gpu: as lower_qdq, and also for e4m3, which a GPU's kernels read and write.
//
// before: (x f8e4m3fn[2,3])
//   s = f32[]{0.5}
//   z = f8e4m3fn[]{0}
//   a = DequantizeLinear(x, s, z)
//   r = QuantizeLinear(a, s, z)
// after: (x f8e4m3fn[2,3])
//   a = Region(x) body={(f8e4m3fn) %1=cast.f32(%0) %2=constant.f32(0.5) %3=mul.f32(%1,%2) -> %3}
//   r = Region(a) body={(f32) %1=constant.f32(0.5) %2=div.f32(%0,%1) %3=cast.f8e4m3fn(%2) -> %3}
#include "passes/precision/quantize_regions.h"

namespace tenfold::passes {

Pass pass_lower_qdq_for_gpu() {
  return {.name = "lower_qdq_for_gpu", .run = [](ir::Graph& graph) { return quantize_regions(graph, true); }};
}

}  // namespace tenfold::passes
