// AveragePool: the mean of each window, over the elements inside the input or over its pads too.
#include <algorithm>

#include "ops/pool/pool_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) { call.out(0, call.dtype(0), ops::infer_pool(call)); }

// Taps of a window that lie inside the padded input; those past it, which ceil_mode allows, never count.
std::int64_t padded_taps(const ops::Geometry& g, const ops::Geometry::Three& o) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t room = g.in[i] + g.begin[i] + g.end[i] - o[i] * g.stride[i];  // from the window's start to the padded end
    count *= std::clamp<std::int64_t>((room + g.dilation[i] - 1) / g.dilation[i], 0, g.kernel[i]);
  }
  return count;
}

void reference(Call& call) {
  const ops::Geometry g = ops::pool_geometry(call);
  const bool count_pads = call.attributes().integer("count_include_pad") != 0;
  ops::with_real(call.in[0].dtype, [&]<class T>(T) {
    const ops::RealIn<T> x(call.in[0]);
    const ops::RealOut<T> y(call.out[0]);
    ops::pool_windows(g, call.in[0].shape[0] * call.in[0].shape[1], x.data(), y.data(),
                      [&](const T* image, const ops::Geometry::Three& o, std::int64_t) {
                        double sum = 0;
                        std::int64_t count = 0;
                        ops::visit_window(g, o, [&](std::int64_t i) { sum += static_cast<double>(image[i]), ++count; });
                        return sum / static_cast<double>(std::max<std::int64_t>(count_pads ? padded_taps(g, o) : count, 1));
                      });
  });
}

}  // namespace

OpDef op_average_pool() {
  return {.name = "AveragePool",
          .types = "T -> T; T: float",
          .attributes = {{"auto_pad", "NOTSET"}, {"ceil_mode", 0}, {"count_include_pad", 0}},
          .optional_attributes = "kernel_shape: ints, strides: ints, dilations: ints, pads: ints",
          .infer = infer,
          .reference = reference,
          .traits = {.narrows = true},
          .onnx_since = 1,
          .cases = {"f32[1,3,8,8] kernel_shape=[2,2] strides=[2,2]", "f32[2,4,9,7] kernel_shape=[3,3] pads=[1,1,1,1]",
                    "f32[2,4,9,7] kernel_shape=[3,3] pads=[1,1,1,1] count_include_pad=1",
                    "f32[1,2,10,11] kernel_shape=[3,2] strides=[3,2] ceil_mode=1",
                    "f32[1,2,6,8] kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1] ceil_mode=1 count_include_pad=1",
                    "f32[1,3,13] kernel_shape=[3] dilations=[2] pads=[2,2]", "f32[1,2,5,6,7] kernel_shape=[2,3,2]",
                    "bf16[2,40,9,7] kernel_shape=[3,3] pads=[1,1,1,1] strides=[2,2]", "bf16[1,6,5,6,7] kernel_shape=[2,3,2]"}};
}

}  // namespace tenfold::ir
