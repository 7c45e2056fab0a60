// What the poolings share: shapes, and the walk over every window of every channel.
#pragma once

#include "ops/conv/conv_common.h"
#include "ops/real_access.h"

namespace tenfold::ops {

// Result dims; throws invalid_model on wrong ranks or attributes. The first one spells out the attributes of the window.
ir::Dims infer_pool(ir::InferCall& call);
ir::Dims infer_global_pool(ir::InferCall& call);
Geometry pool_geometry(const ir::Call& call);

// Calls visit(index) for each input element of one channel that the window of output o covers; pads are left out.
template <class Visit>
void visit_window(const Geometry& g, const Geometry::Three& o, Visit&& visit) {
  Geometry::Three start;
  for (std::size_t i = 0; i < 3; ++i) start[i] = o[i] * g.stride[i] - g.begin[i];
  for (std::int64_t kz = 0, z = start[0]; kz < g.kernel[0]; ++kz, z += g.dilation[0]) {
    if (z < 0 || z >= g.in[0]) continue;
    for (std::int64_t ky = 0, y = start[1]; ky < g.kernel[1]; ++ky, y += g.dilation[1]) {
      if (y < 0 || y >= g.in[1]) continue;
      for (std::int64_t kx = 0, x = start[2]; kx < g.kernel[2]; ++kx, x += g.dilation[2]) {
        if (x >= 0 && x < g.in[2]) visit((z * g.in[1] + y) * g.in[2] + x);
      }
    }
  }
}

// y[channel, o] = reduce(channel's elements, o's position) for all windows; `reduce` gets (const T* image, Three o, channel).
template <class T, class Reduce>
void pool_windows(const Geometry& g, std::int64_t channels, const T* x, T* y, Reduce&& reduce) {
  for (std::int64_t c = 0; c < channels; ++c) {
    const T* image = x + c * g.in_size();
    for (std::int64_t oz = 0; oz < g.out[0]; ++oz) {
      for (std::int64_t oy = 0; oy < g.out[1]; ++oy) {
        for (std::int64_t ox = 0; ox < g.out[2]; ++ox) *y++ = static_cast<T>(reduce(image, Geometry::Three{oz, oy, ox}, c));
      }
    }
  }
}

// One value per batch and channel: reduce(const T* elements, count).
template <class Reduce>
void pool_globally(ir::Call& call, Reduce&& reduce) {
  with_number(call.in[0].dtype, [&]<class T>(T) {
    const RealIn<T> x(call.in[0]);
    const RealOut<T> y(call.out[0]);
    const std::int64_t channels = call.out[0].size(), size = channels ? call.in[0].size() / channels : 0;
    for (std::int64_t c = 0; c < channels; ++c) y[c] = static_cast<T>(reduce(x.data() + c * size, size));
  });
}

}  // namespace tenfold::ops
