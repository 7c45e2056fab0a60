// Windows that slide over an image: what convolutions and poolings share. Extents as Dims, attributes checked once.
#pragma once

#include <array>
#include <span>

#include "ir/op_def.h"

namespace tenfold::ops {

// One entry per spatial dim. Pads are constants unless auto_pad meets an extent that is a symbol.
struct Window {
  ir::Ints kernel, strides, dilations;
  ir::Dims begin, end;
  std::size_t rank() const { return kernel.size(); }
  std::int64_t reach(std::size_t i) const { return dilations[i] * (kernel[i] - 1) + 1; }  // input covered by the dilated kernel
};

// Reads strides, dilations, pads and auto_pad of a convolution or pooling over `spatial` dims; throws invalid_model on a wrong
// number of values or values out of range.
Window window_of(const ir::Attributes& attributes, std::span<const ir::Dim> spatial, const ir::Ints& kernel);
// The kernel of a pooling, or of a convolution whose weight has these spatial dims.
ir::Ints pool_kernel(const ir::Attributes& attributes, std::size_t spatial_rank);
ir::Ints conv_kernel(const ir::Attributes& attributes, std::span<const ir::Dim> weight_spatial);

// Output extent of spatial dim i. With `ceil` a last window may reach past the end, if it starts inside the input or its begin pad.
ir::Dim window_extent(const Window& window, std::size_t i, ir::Dim input, bool ceil = false);

// Those of all spatial dims; with auto_pad SAME they follow from the strides alone.
ir::Dims window_extents(const ir::Attributes& attributes, const Window& window, std::span<const ir::Dim> spatial, bool ceil = false);

// Writes kernel_shape, strides, dilations and pads into the node, in place of auto_pad, if the pads are known by now.
void spell_out(ir::Attributes& attributes, const Window& window, bool with_kernel = true);

// Infers [batch, channels, spatial...] for a window over input 0 and spells out the node's attributes.
ir::Dims infer_window(ir::InferCall& call, const ir::Ints& kernel, ir::Dim channels, bool ceil = false);

// Checks the operands of a convolution (input 0, weight 1) and infers its result as above.
ir::Dims infer_convolution(ir::InferCall& call);
void expect_bias(const ir::InferCall& call, int operand, ir::Dim channels);   // one number for each, where it is given
// Its type: the image's, or the weights' where `precision` says that a wide image is rounded to it as it is read.
DType convolution_dtype(ir::InferCall& call);

// Geometry on concrete shapes, padded to three spatial dims by leading ones, for reference loops.
struct Geometry {
  using Three = std::array<std::int64_t, 3>;
  Three in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, begin{0, 0, 0}, end{0, 0, 0};
  Geometry(const Shape& input, const Shape& output, const Window& window);  // shapes with batch and channels in front
  std::int64_t in_size() const { return in[0] * in[1] * in[2]; }
  std::int64_t out_size() const { return out[0] * out[1] * out[2]; }
  std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
};
ir::Dims spatial_dims(const Shape& shape);

// The outputs [first, last) of one dim for which tap k reads inside the input.
struct Range {
  std::int64_t first, last;
};
Range inside(const Geometry& g, std::size_t dim, std::int64_t k);

// sums[o] += weight * x[o * stride + k * dilation - begin] over all outputs of one channel, for one tap (kz, ky, kx).
template <class Acc, class T>
void add_tap(const Geometry& g, const Geometry::Three& tap, const T* x, Acc weight, Acc* sums) {
  const Range z = inside(g, 0, tap[0]), y = inside(g, 1, tap[1]), c = inside(g, 2, tap[2]);
  const std::int64_t stride = g.stride[2], shift = tap[2] * g.dilation[2] - g.begin[2];
  for (std::int64_t oz = z.first; oz < z.last; ++oz) {
    for (std::int64_t oy = y.first; oy < y.last; ++oy) {
      const std::int64_t iz = oz * g.stride[0] + tap[0] * g.dilation[0] - g.begin[0];
      const std::int64_t iy = oy * g.stride[1] + tap[1] * g.dilation[1] - g.begin[1];
      const T* row = x + (iz * g.in[1] + iy) * g.in[2];
      Acc* sum = sums + (oz * g.out[1] + oy) * g.out[2];
      if (stride == 1) {
        for (std::int64_t ox = c.first; ox < c.last; ++ox) sum[ox] += weight * static_cast<Acc>(row[ox + shift]);
      } else {
        for (std::int64_t ox = c.first; ox < c.last; ++ox) sum[ox] += weight * static_cast<Acc>(row[ox * stride + shift]);
      }
    }
  }
}

template <class F>
void for_each_tap(const Geometry& g, F&& f) {
  std::int64_t index = 0;
  for (std::int64_t z = 0; z < g.kernel[0]; ++z) {
    for (std::int64_t y = 0; y < g.kernel[1]; ++y) {
      for (std::int64_t x = 0; x < g.kernel[2]; ++x) f(Geometry::Three{z, y, x}, index++);
    }
  }
}

// A grouped convolution; sums are handed to store(output index, channel, Acc).
template <class Acc, class T, class Store>
void convolve(const Geometry& g, const Shape& input, const Shape& weight, std::int64_t groups, const T* x, const T* w, Store&& store) {
  const std::int64_t batch = input[0], depth = weight[1], channels = weight[0], per_group = channels / groups;
  std::vector<Acc> sums(static_cast<std::size_t>(g.out_size()));
  for (std::int64_t n = 0; n < batch; ++n) {
    for (std::int64_t m = 0; m < channels; ++m) {
      std::fill(sums.begin(), sums.end(), Acc{});
      for (std::int64_t c = 0; c < depth; ++c) {
        const T* image = x + (n * input[1] + m / per_group * depth + c) * g.in_size();
        const T* filter = w + (m * depth + c) * g.taps();
        for_each_tap(g,
                     [&](const Geometry::Three& tap, std::int64_t i) { add_tap(g, tap, image, static_cast<Acc>(filter[i]), sums.data()); });
      }
      for (std::int64_t o = 0; o < g.out_size(); ++o) store((n * channels + m) * g.out_size() + o, m, sums[static_cast<std::size_t>(o)]);
    }
  }
}

}  // namespace tenfold::ops
