// InstanceNormalization: zero mean and unit variance for each channel of each sample, then scale and bias by channel.
#include "ops/norm/norm_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.need(call.rank(0) >= 2, "the input has rank ", call.rank(0), ", expected batch, channels and spatial dims");
  ops::need_per_channel(call, 1, "scale");
  ops::need_per_channel(call, 2, "bias");
  call.out(0, call.dtype(0), call.dims(0));
}

void reference(Call& call) {
  const double epsilon = call.attributes().number("epsilon");
  const std::int64_t channels = call.in[0].shape[1], lanes = call.in[0].shape[0] * channels, size = lanes ? call.in[0].size() / lanes : 0;
  ops::with_real(call.in[0].dtype, [&]<class T>(T) {
    const ops::RealIn<T> x(call.in[0]), scale(call.in[1]), bias(call.in[2]);
    const ops::RealOut<T> y(call.out[0]);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const ops::Moments m = ops::moments(x.data() + lane * size, size);
      const double factor = static_cast<double>(scale[lane % channels]) / std::sqrt(m.variance + epsilon);
      for (std::int64_t i = lane * size; i < (lane + 1) * size; ++i) {
        y[i] = static_cast<T>((static_cast<double>(x[i]) - m.mean) * factor + static_cast<double>(bias[lane % channels]));
      }
    }
  });
}

}  // namespace

OpDef op_instance_normalization() {
  return {.name = "InstanceNormalization",
          .min_inputs = 3,
          .max_inputs = 3,
          .attributes = {{"epsilon", 1e-5f}},
          .infer = infer,
          .reference = reference,
          .from_onnx = {{"InstanceNormalization", 6}},
          .cases = {"f32[2,3,8,9] f32[3] f32[3]", "f32[1,5,17] f32[5]! f32[5]! epsilon=0.01", "f32[2,4,3,4,5] f32[4] f32[4]"}};
}

}  // namespace tenfold::ir
