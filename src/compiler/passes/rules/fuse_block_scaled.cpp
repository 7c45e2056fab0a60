// fuse_block_scaled: a product with a dequantized constant of 4 or 8 bits keeps the constant as narrow as it is. Its kernels make floats of
// it in registers, or on a CPU in caches for many rows.
//
// before: (x f32[2,32])
//   w = constant i4[32,4]
//   s = constant f32[2,4]
//   b = DequantizeLinear(w, s) axis=0 block_size=16
//   y = MatMul(x, b)
// after: (x f32[2,32])
//   w = constant i4[32,4]
//   s = constant f32[2,4]
//   y = MatMulBlockScaled(x, w, s) block_size=16
//
// before: (x f32[2,32])
//   w = constant i8[4,32]
//   s = constant f32[4]
//   z = constant i8[4]
//   b = DequantizeLinear(w, s, z) axis=0
//   t = Transpose(b) perm=[1,0]
//   y = MatMul(x, t)
// after: (x f32[2,32])
//   w = constant i8[32,4]
//   s = constant f32[1,4]
//   z = constant i8[1,4]
//   y = MatMulBlockScaled(x, w, s, z) block_size=32
//
// kept: (x f32[2,32])
//   w = constant i4[32,4]
//   s = constant f32[32,1]
//   b = DequantizeLinear(w, s) axis=1 block_size=4
//   y = MatMul(x, b)
//
// kept: (x f32[2,32], w i4[32,4], s f32[2,4])
//   b = DequantizeLinear(w, s) axis=0 block_size=16
//   y = MatMul(x, b)
#include "passes/pass.h"
#include "passes/precision/block_scaled.h"

namespace tenfold::passes {

Pass pass_fuse_block_scaled() {
  return {.name = "fuse_block_scaled",
          .run = [](ir::Graph& graph) {
            return try_each(graph, [](ir::Graph& g, ir::Node& node) { return fuse_block_scaled(g, node, Narrow::integers); });
          }};
}

}  // namespace tenfold::passes
