// fuse_block_scaled_fp4: fuse_block_scaled for floats of 4 bits (e2m1), whose scales may have 8 bits, too (MXFP4, NVFP4). No kernel of a
// GPU takes them yet.
//
// before: (x f32[2,32])
//   w = constant f4e2m1[4,32]
//   q = constant f8e4m3fn[4,2]
//   g = f32[]{0.5}
//   s = DequantizeLinear(q, g)
//   b = DequantizeLinear(w, s) axis=1 block_size=16
//   t = Transpose(b) perm=[1,0]
//   y = MatMul(x, t)
// after: (x f32[2,32])
//   w = constant f4e2m1[32,4]
//   s = constant f8e4m3fn[2,4]
//   y = MatMulBlockScaled(x, w, s) block_size=16 scale_factor=0.5
#include "passes/pass.h"
#include "passes/precision/block_scaled.h"

namespace tenfold::passes {

Pass pass_fuse_block_scaled_fp4() {
  return {.name = "fuse_block_scaled_fp4",
          .run = [](ir::Graph& graph) {
            return try_each(graph, [](ir::Graph& g, ir::Node& node) { return fuse_block_scaled(g, node, Narrow::fp4); });
          }};
}

}  // namespace tenfold::passes
