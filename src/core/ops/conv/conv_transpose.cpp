// ConvTranspose: the gradient of a convolution, used to enlarge: every input element adds its scaled kernel to the output.
#include "base/checked.h"
#include "ops/conv/conv_common.h"
#include "ops/real_access.h"

namespace tenfold::ir {
namespace {

struct Placement {
  ops::Window window;
  Ints output_padding;
  Dims extents;
  bool spelled_out = true;  // pads and output padding say everything: no symbol decides them
};

// Pads follow from the extents asked for, where output_shape or auto_pad asks; what pads cannot take off is added as output padding.
void pad_to(Placement& p, std::size_t i, Dim full, Dim requested, bool upper) {
  const Dim total = max(full - requested, 0), half = floor_div(total, 2);
  p.window.begin[i] = upper ? half : total - half;
  p.window.end[i] = total - p.window.begin[i];
  const Dim missing = max(requested - full, 0);
  if (missing.is_constant())
    p.output_padding[i] += missing.constant();
  else
    p.spelled_out = false;
  p.extents.push_back(requested);
}

Placement place(const Attributes& attributes, std::span<const Dim> spatial, const Ints& kernel) {
  const std::size_t rank = spatial.size();
  const std::string mode = attributes.string("auto_pad", "NOTSET");
  Attributes plain = attributes;
  if (mode.starts_with("SAME")) plain.set("auto_pad", std::string("VALID"));  // the rule for SAME is another one here
  Placement p{.window = ops::window_of(plain, spatial, kernel), .output_padding = attributes.ints("output_padding", {}), .extents = {}};
  if (p.output_padding.empty()) p.output_padding.assign(rank, 0);
  check_shape(p.output_padding.size() == rank, "output_padding has ", p.output_padding.size(), " values, expected ", rank);
  Ints shape = attributes.ints("output_shape", {});
  if (shape.size() == rank + 2) shape.erase(shape.begin(), shape.begin() + 2);  // some exporters write batch and channels too
  check_shape(shape.empty() || shape.size() == rank, "output_shape has ", shape.size(), " values, expected ", rank);
  for (std::size_t i = 0; i < rank; ++i) {
    validate(p.output_padding[i] >= 0 && p.output_padding[i] < (std::int64_t{1} << 31), "output_padding has the value ",
             p.output_padding[i]);
    const Dim full = (spatial[i] - 1) * p.window.strides[i] + p.output_padding[i] + p.window.reach(i);
    if (!shape.empty())
      pad_to(p, i, full, shape[i], mode == "SAME_UPPER");
    else if (mode.starts_with("SAME"))
      pad_to(p, i, full, spatial[i] * p.window.strides[i], mode == "SAME_UPPER");
    else
      p.extents.push_back(full - p.window.begin[i] - p.window.end[i]);
    check_shape(!p.extents[i].is_constant() || p.extents[i].constant() >= 0, "the result would have an extent of ", p.extents[i].text());
  }
  return p;
}

void infer(InferCall& call) {
  const Dims &x = call.dims(0), &w = call.dims(1);
  const std::int64_t group = call.attributes().integer("group");
  call.validate(group > 0, "group is ", group);
  call.check_shape(x.size() >= 3 && w.size() == x.size(), "the input has rank ", x.size(), " and the weight ", w.size(),
            ", expected equal ranks of 3 or more");
  call.supported(x.size() <= 5, "more than three spatial dims: the input has rank ", x.size());
  call.check_shape(!x[1].is_constant() || !w[0].is_constant() || x[1] == w[0], "the input has ", x[1].text(),
                   " channels, the weight expects ", w[0].text());
  call.check_shape(!w[0].is_constant() || w[0].constant() % group == 0, w[0].text(), " input channels do not divide into ", group,
                   " groups");
  const Placement p = place(call.attributes(), std::span(x).subspan(2), ops::conv_kernel(call.attributes(), std::span(w).subspan(2)));
  Dims dims{x[0], w[1] * group};
  ops::expect_bias(call, 2, dims[1]);
  dims.insert(dims.end(), p.extents.begin(), p.extents.end());
  if (p.spelled_out && is_constant(p.window.begin) && is_constant(p.window.end)) {
    Attributes& attributes = call.edit_attributes();
    ops::spell_out(attributes, p.window);
    attributes.set("output_padding", p.output_padding);
    attributes.erase("output_shape");
  }
  call.out(0, call.dtype(0), dims);
}

// Adds the kernel of one input channel to one output channel. `g` is the geometry of the convolution this one turns around:
// its input is our output.
template <class T>
void scatter(const ops::Geometry& g, const T* x, const T* kernel, double* sums) {
  ops::for_each_tap(g, [&](const ops::Geometry::Three& tap, std::int64_t t) {
    const ops::Range z = ops::inside(g, 0, tap[0]), y = ops::inside(g, 1, tap[1]), c = ops::inside(g, 2, tap[2]);
    const double weight = kernel[t];
    const std::int64_t stride = g.stride[2], shift = tap[2] * g.dilation[2] - g.begin[2];
    for (std::int64_t iz = z.first; iz < z.last; ++iz) {
      for (std::int64_t iy = y.first; iy < y.last; ++iy) {
        const std::int64_t oz = iz * g.stride[0] + tap[0] * g.dilation[0] - g.begin[0];
        const std::int64_t oy = iy * g.stride[1] + tap[1] * g.dilation[1] - g.begin[1];
        const T* row = x + (iz * g.out[1] + iy) * g.out[2];
        double* sum = sums + (oz * g.in[1] + oy) * g.in[2];
        for (std::int64_t ix = c.first; ix < c.last; ++ix) sum[ix * stride + shift] += weight * static_cast<double>(row[ix]);
      }
    }
  });
}

template <class T>
void run(Call& call, const ops::Geometry& g) {
  const ops::RealIn<T> x(call.in[0]), w(call.in[1]), bias(call.has(2) ? call.in[2] : TensorRef{});
  const ops::RealOut<T> y(call.out[0]);
  const std::int64_t channels_in = call.in[0].shape[1], channels_out = call.out[0].shape[1], per_group = call.in[1].shape[1];
  const std::int64_t depth = channels_in / call.attributes().integer("group"), size = g.in_size();
  std::vector<double> sums(static_cast<std::size_t>(size));
  for (std::int64_t n = 0; n < call.in[0].shape[0]; ++n) {
    for (std::int64_t m = 0; m < channels_out; ++m) {
      std::fill(sums.begin(), sums.end(), bias.data() ? static_cast<double>(bias[m]) : 0.0);
      for (std::int64_t i = 0; i < depth; ++i) {
        const std::int64_t c = m / per_group * depth + i;
        scatter(g, x.data() + (n * channels_in + c) * g.out_size(), w.data() + (c * per_group + m % per_group) * g.taps(), sums.data());
      }
      for (std::int64_t o = 0; o < size; ++o) y[(n * channels_out + m) * size + o] = static_cast<T>(sums[static_cast<std::size_t>(o)]);
    }
  }
}

void reference(Call& call) {
  const Shape &input = call.in[0].shape, &weight = call.in[1].shape;
  const Dims spatial = ops::spatial_dims(input);
  const Placement p = place(call.attributes(), spatial, Ints(weight.begin() + 2, weight.end()));
  const ops::Geometry g(call.out[0].shape, input, p.window);
  ops::with_real(call.in[0].dtype, [&]<class T>(T) { run<T>(call, g); });
}

}  // namespace

OpDef op_conv_transpose() {
  return {.name = "ConvTranspose",
          .min_inputs = 2,
          .max_inputs = 3,
          .types = "T, T, T -> T; T: float",
          .attributes = {{"auto_pad", "NOTSET"}, {"group", 1}},
          .optional_attributes = "kernel_shape: ints, strides: ints, dilations: ints, pads: ints, output_padding: ints, output_shape: ints",
          .infer = infer,
          .reference = reference,
          .traits = {.permission = {.rounding = true, .convolves = true}, .anchor = true, .narrows = true},
          .onnx_since = 1,
          .cases = {"f32[1,3,5,4] f32[3,2,3,3] f32[2]", "f32[1,4,6,6] f32[4,5,4,4]! f32[5]! strides=[2,2] pads=[1,1,1,1]",
                    "f32[2,4,5,7] f32[4,3,3,3] group=2 strides=[3,2] output_padding=[2,1] pads=[0,1,1,0]",
                    "f32[1,2,7] f32[2,3,3] dilations=[2] strides=[2]", "f32[1,2,3,4] f32[2,2,3,3] strides=[3,3] output_shape=[10,14]",
                    "f32[1,2,3,4] f32[2,2,3,3] strides=[2,2] auto_pad=\"SAME_LOWER\"", "f32[1,2,3,4,3] f32[2,2,2,3,2] strides=[1,2,1]"}};
}

}  // namespace tenfold::ir
