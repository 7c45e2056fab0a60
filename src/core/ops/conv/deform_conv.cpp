// DeformConv: a convolution whose taps are moved by offsets and weighted by a mask, both given for every output position.
//
// Operands: X, W, offsets [batch, offset groups * taps * 2, rows, columns] (y, then x), bias, mask [batch, offset groups * taps, ...].
#include <cmath>

#include "ops/conv/conv_common.h"
#include "ops/real_access.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.supported(call.rank(0) == 4, "DeformConv over ", call.rank(0) - 2, " spatial dims, two are supported");
  const Dims dims = ops::infer_convolution(call);
  const Dims& w = call.dims(1);
  const std::int64_t groups = call.attributes().integer("offset_group");
  call.validate(groups > 0, "offset_group is ", groups);
  const Dim channels = call.dims(0)[1];
  call.check_shape(!channels.is_constant() || channels.constant() % groups == 0, channels.text(), " channels do not divide into ", groups,
            " offset groups");
  const Dims offsets{dims[0], w[2] * w[3] * groups * 2, dims[2], dims[3]}, mask{dims[0], w[2] * w[3] * groups, dims[2], dims[3]};
  const auto fit = [&](int i, const Dims& expected, const char* what) {
    const bool known = is_constant(call.dims(i)) && is_constant(expected);
    call.check_shape(known ? call.dims(i) == expected : call.rank(i) == 4, what, " are [", text(call.dims(i)), "], expected [",
                     text(expected), "]");
  };
  fit(2, offsets, "offsets");
  ops::expect_bias(call, 3, dims[1]);
  if (call.has(4)) fit(4, mask, "masks");
  call.out(0, call.dtype(0), dims);
}

// Bilinear interpolation in one channel, zero outside.
double sample(const ops::RealIn<float>& x, std::int64_t channel, std::int64_t rows, std::int64_t columns, double row, double column) {
  const double top = std::floor(row), left = std::floor(column);
  if (!(row > -1 && column > -1 && row < static_cast<double>(rows) && column < static_cast<double>(columns))) return 0;
  double sum = 0;
  for (int corner = 0; corner < 4; ++corner) {
    const auto r = static_cast<std::int64_t>(top) + corner / 2, c = static_cast<std::int64_t>(left) + corner % 2;
    if (r < 0 || r >= rows || c < 0 || c >= columns) continue;
    const double weight = (1 - std::fabs(row - static_cast<double>(r))) * (1 - std::fabs(column - static_cast<double>(c)));
    sum += weight * static_cast<double>(x[(channel * rows + r) * columns + c]);
  }
  return sum;
}

void reference(Call& call) {
  const Shape &input = call.in[0].shape, &weight = call.in[1].shape, &output = call.out[0].shape;
  const ops::Window window = ops::window_of(call.attributes(), ops::spatial_dims(input), Ints(weight.begin() + 2, weight.end()));
  const ops::Geometry g(input, output, window);
  const ops::RealIn<float> x(call.in[0]), w(call.in[1]), offsets(call.in[2]), bias(call.has(3) ? call.in[3] : TensorRef{}),
      mask(call.has(4) ? call.in[4] : TensorRef{});
  const ops::RealOut<float> y(call.out[0]);
  const std::int64_t per_group = weight[0] / call.attributes().integer("group"), depth = weight[1], taps = g.taps(), size = g.out_size();
  const std::int64_t offset_groups = call.attributes().integer("offset_group"), per_offset = input[1] / offset_groups;
  call.check_shape(input[1] % offset_groups == 0, input[1], " channels do not divide into ", offset_groups, " offset groups");
  for (std::int64_t i = 0; i < call.out[0].size(); ++i) {
    const std::int64_t at = i % size, m = i / size % weight[0], n = i / size / weight[0], row = at / g.out[2], column = at % g.out[2];
    double sum = bias.data() ? static_cast<double>(bias[m]) : 0.0;
    for (std::int64_t d = 0; d < depth; ++d) {
      const std::int64_t channel = m / per_group * depth + d;
      const std::int64_t first = (n * offset_groups + channel / per_offset) * taps;  // of the channel's taps among all taps
      ops::for_each_tap(g, [&](const ops::Geometry::Three& tap, std::int64_t t) {
        const double r =
            static_cast<double>(row * g.stride[1] + tap[1] * g.dilation[1] - g.begin[1]) + offsets[(first + t) * 2 * size + at];
        const double c =
            static_cast<double>(column * g.stride[2] + tap[2] * g.dilation[2] - g.begin[2]) + offsets[((first + t) * 2 + 1) * size + at];
        const double scale = mask.data() ? static_cast<double>(mask[(first + t) * size + at]) : 1.0;
        sum += scale * w[(m * depth + d) * taps + t] * sample(x, n * input[1] + channel, g.in[1], g.in[2], r, c);
      });
    }
    y[i] = static_cast<float>(sum);
  }
}

}  // namespace

OpDef op_deform_conv() {
  return {.name = "DeformConv",
          .min_inputs = 3,
          .max_inputs = 5,
          .types = "T, T, T, T, T -> T; T: float",
          .attributes = {{"group", 1}, {"offset_group", 1}},
          .optional_attributes = "kernel_shape: ints, strides: ints, dilations: ints, pads: ints, auto_pad: string",
          .infer = infer,
          .reference = reference,
          .onnx_since = 19,
          .cases = {"f32[1,2,5,6] f32[3,2,3,3] f32[1,18,5,6] f32[3] f32[1,9,5,6] pads=[1,1,1,1]",
                    "f32[2,4,5,5] f32[2,2,2,2] f32[2,16,2,2] group=2 offset_group=2 strides=[2,2]",
                    "f32[1,1,4,4] f32[1,1,2,2] f32[1,8,3,3] f32[1]"}};
}

}  // namespace tenfold::ir
