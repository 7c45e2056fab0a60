// ConvMaxPool (internal): a convolution, and the largest of each two by two of its results: of a picture. Attributes: the convolution's.
// Made by a fusion pass for GPUs, whose first convolutions need not write what is dropped.
#include <algorithm>
#include <limits>

#include "ops/body_lane.h"
#include "ops/conv/conv_common.h"
#include "ops/real_access.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  if (call.has(2)) call.need(call.rank(2) == 1, "the bias has rank ", call.rank(2), ", expected 1");
  Dims y = ops::infer_convolution(call);
  call.need(y.size() == 4 && y[2].is_constant() && y[3].is_constant(), "the results are no pictures of known extents");
  for (std::size_t d = 2; d < 4; ++d) y[d] = y[d].constant() / 2;
  call.out(0, ops::convolution_dtype(call), y);
}

void reference(Call& call) {
  const Shape &input = call.in[0].shape, &weight = call.in[1].shape, &pooled = call.out[0].shape;
  const Dims image = ops::spatial_dims(input);
  const ops::Window window = ops::window_of(call.attributes(), image, Ints(weight.begin() + 2, weight.end()));
  const Ints extents = constants(ops::window_extents(call.attributes(), window, image));
  const Shape middle{pooled[0], pooled[1], extents[0], extents[1]};
  std::vector<float> x = ops::converted<float>(call.in[0]), values(static_cast<std::size_t>(element_count(middle)));
  for (float& v : x) v = static_cast<float>(ops::round_to(call.out[0].dtype, static_cast<double>(v)));
  const ops::RealIn<float> w(call.in[1]), bias(call.has(2) ? call.in[2] : TensorRef{});
  ops::convolve<double>(ops::Geometry(input, middle, window), input, weight, call.attributes().integer("group"), x.data(), w.data(),
                        [&](std::int64_t i, std::int64_t channel, double sum) {
                          values[static_cast<std::size_t>(i)] =
                              static_cast<float>(bias.data() ? sum + static_cast<double>(bias[channel]) : sum);
                        });
  const ops::RealOut<float> y(call.out[0]);
  const std::int64_t height = pooled[2], width = pooled[3];
  for (std::int64_t i = 0; i < element_count(pooled); ++i) {
    const std::int64_t plane = i / (height * width), row = i / width % height * 2, column = i % width * 2;
    float most = -std::numeric_limits<float>::infinity();
    for (std::int64_t at = 0; at < 4; ++at) {
      const float v = values[static_cast<std::size_t>((plane * middle[2] + row + at / 2) * middle[3] + column + at % 2)];
      if (v > most || v != v) most = v;
    }
    y[i] = most;
  }
}

}  // namespace

OpDef op_conv_max_pool() {
  return {.name = "ConvMaxPool",
          .min_inputs = 2,
          .max_inputs = 3,
          .types = "float, float, float -> float",
          .attributes = {{"auto_pad", "NOTSET"}, {"group", 1}},
          .optional_attributes = "kernel_shape: ints, strides: ints, dilations: ints, pads: ints",
          .infer = infer,
          .reference = reference,
          .traits = {.leave = {.rounding = true}, .anchor = true},
          .cases = {"f16[2,3,32,35] f16[32,3,3,3]! f16[32]! pads=[1,1,1,1]", "bf16[1,1,28,28] bf16[8,1,5,5]!",
                    "f32[3,3,57,45] f16[64,3,7,7]! f16[64]! pads=[3,3,3,3] strides=[2,2] numerics={round_to=f16}",
                    "f32[2,4,9,40] bf16[48,4,3,3]! bf16[48]! pads=[1,1,1,1] numerics={round_to=bf16}",
                    "f32[1,3,7,9] f32[8,3,3,3]! f32[8]!"}};
}

}  // namespace tenfold::ir
