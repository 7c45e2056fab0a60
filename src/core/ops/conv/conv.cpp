// Conv: grouped, strided, dilated convolution over one to three spatial dims.
#include "ops/body_elements.h"
#include "ops/conv/conv_common.h"
#include "ops/real_access.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Dims dims = ops::infer_convolution(call);
  ops::expect_bias(call, 2, dims[1]);
  call.out(0, ops::convolution_dtype(call), dims);
}

void reference(Call& call) {
  const Shape &input = call.in[0].shape, &weight = call.in[1].shape;
  const Ints kernel(weight.begin() + 2, weight.end());
  const ops::Window window = ops::window_of(call.attributes(), ops::spatial_dims(input), kernel);
  const ops::Geometry g(input, call.out[0].shape, window);
  ops::with_real(call.out[0].dtype, [&]<class T>(T) {
    std::vector<T> rounded;
    if (call.in[0].dtype != call.out[0].dtype) rounded = ops::converted<T>(call.in[0]);
    for (T& v : rounded) v = static_cast<T>(ops::round_to(call.out[0].dtype, static_cast<double>(v)));
    const ops::RealIn<T> x(rounded.empty() ? call.in[0] : ir::TensorRef{}), w(call.in[1]), bias(call.has(2) ? call.in[2] : TensorRef{});
    const ops::RealOut<T> y(call.out[0]);
    ops::convolve<double>(g, input, weight, call.attributes().integer("group"), rounded.empty() ? x.data() : rounded.data(), w.data(),
                          [&](std::int64_t i, std::int64_t channel, double sum) {
                            y[i] = static_cast<T>(bias.data() ? sum + static_cast<double>(bias[channel]) : sum);
                          });
  });
}

}  // namespace

OpDef op_conv() {
  return {
      .name = "Conv",
      .min_inputs = 2,
      .max_inputs = 3,
      .types = "float, float, float -> float",
      .attributes = {{"auto_pad", "NOTSET"}, {"group", 1}},
      .optional_attributes = "kernel_shape: ints, strides: ints, dilations: ints, pads: ints",
      .infer = infer,
      .reference = reference,
      .traits = {.gemm_kind = GemmKind::convolution,
                 .permission = {.rounding = true, .convolves = true, .winograd = true},
                 .anchor = true,
                 .narrows = true},
      .onnx_since = 1,
      .cases = {"f32[1,3,11,9] f32[8,3,3,3] f32[8] pads=[1,1,1,1]", "f32[2,16,14,14] f32[24,16,1,1]! f32[24]!",
                "f32[1,3,17,15] f32[8,3,3,3]! pads=[0,1,2,1] strides=[2,2]", "f32[1,8,12,12] f32[8,1,3,3]! f32[8]! group=8 pads=[1,1,1,1]",
                "f32[1,6,9,9] f32[9,2,3,3] group=3 dilations=[2,2] pads=[2,2,2,2]", "f32[2,4,20] f32[6,4,5] f32[6] strides=[3] pads=[2,1]",
                "f32[1,3,5,6,7] f32[4,3,3,3,3] pads=[1,1,1,1,1,1]", "f32[1,2,7,8] f32[3,2,4,3] auto_pad=\"SAME_UPPER\" strides=[2,3]",
                "f32[2,12,9,7] f32[20,3,3,3]! f32[20]! group=4 pads=[1,1,1,1]", "f16[1,3,8,8] f16[4,3,3,3] f16[4]",
                "f32[2,3,9,8] f16[8,3,3,3]! f16[8]! pads=[1,1,1,1] numerics={round_to=f16}",
                "bf16[1,40,9,11] bf16[40,1,3,3]! bf16[40]! group=40 pads=[1,1,1,1]",
                "bf16[2,70,9,11] bf16[70,1,3,3]! bf16[70]! group=70 pads=[1,1,1,1] strides=[2,2]",
                "bf16[1,230,3,2] bf16[230,1,5,5]! group=230 pads=[2,2,2,2]",
                "bf16[1,33,9,8] bf16[33,1,3,3]! group=33 pads=[2,2,2,2] dilations=[2,2]",
                "bf16[1,8,5,6,7] bf16[8,1,3,3,3]! bf16[8]! group=8 pads=[1,1,1,1,1,1]", "f32[1,2,3,9] f32[3,2,1,1]! f32[3]!"}};
}

}  // namespace tenfold::ir
