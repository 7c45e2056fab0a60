// lower_patches: a convolution whose windows tile the image, and whose channels are moved last after it, becomes a GEMM over the
// windows' elements (patch embedding of vision transformers). For GPUs: one copy before it instead of copies on both sides.
//
// before: (x f32[2,3,4,6], w f32[8,3,2,3]!, b f32[8]!)
//   s = i64[3]{2,8,4}
//   c = Conv(x, w, b) strides=[2,3]
//   r = Reshape(c, s)
//   y = Transpose(r) perm=[0,2,1]
// after: (x f32[2,3,4,6], b f32[8]!)
//   m = constant f32[18,8]
//   i = i64[6]{2,3,2,2,2,3}
//   o = i64[3]{2,4,18}
//   r = Reshape(x, i) allowzero=1
//   t = Transpose(r) perm=[0,2,4,1,3,5]
//   f = Reshape(t, o) allowzero=1
//   p = MatMul(f, m)
//   y = Add(p, b)
//
// kept: (x f32[2,3,4,6], w f32[8,3,2,3]!)
//   s = i64[3]{2,8,8}
//   c = Conv(x, w) strides=[2,2] pads=[0,1,0,2]
//   r = Reshape(c, s)
//   y = Transpose(r) perm=[0,2,1]
#include "passes/pass.h"
#include "passes/patches.h"

namespace tenfold::passes {

Pass pass_lower_patches() {
  return {.name = "lower_patches", .run = [](ir::Graph& graph) { return lower_patches(graph, 1); }};
}

}  // namespace tenfold::passes
