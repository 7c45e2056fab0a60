// lower_large_patches: what lower_patches does, for kernels with more taps than a CPU's convolutions support.
//
// before: (x f32[1,1,32,64], w f32[8,1,32,32]!)
//   s = i64[3]{1,8,2}
//   c = Conv(x, w) strides=[32,32]
//   r = Reshape(c, s)
//   y = Transpose(r) perm=[0,2,1]
// after: (x f32[1,1,32,64])
//   m = constant f32[1024,8]
//   i = i64[6]{1,1,1,32,2,32}
//   o = i64[3]{1,2,1024}
//   r = Reshape(x, i) allowzero=1
//   t = Transpose(r) perm=[0,2,4,1,3,5]
//   f = Reshape(t, o) allowzero=1
//   y = MatMul(f, m)
//
// kept: (x f32[1,1,32,64], w f32[8,1,16,16]!)
//   s = i64[3]{1,8,8}
//   c = Conv(x, w) strides=[16,16]
//   r = Reshape(c, s)
//   y = Transpose(r) perm=[0,2,1]
#include "backends/device_traits.h"
#include "passes/pass.h"
#include "passes/patches.h"

namespace tenfold::passes {

Pass pass_lower_large_patches() {
  return {.name = "lower_large_patches", .run = [](ir::Graph& graph) { return lower_patches(graph, backends::kMaxTaps + 1); }};
}

}  // namespace tenfold::passes
