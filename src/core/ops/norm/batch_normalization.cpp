// BatchNormalization: (x - mean) / sqrt(variance + epsilon) * scale + bias by channel, with stored or the batch's own statistics.
#include "ops/norm/norm_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.check_shape(call.rank(0) >= 1, "the input is a scalar, expected batch, channels and spatial dims");
  if (call.rank(0) >= 2) {
    const char* names[] = {"", "scale", "bias", "mean", "variance"};
    for (int i = 1; i < 5; ++i) ops::need_per_channel(call, i, names[i]);
  }
  const bool training = call.attributes().integer("training_mode") != 0;
  call.validate(call.outputs() == 1 || training, "running statistics are results of training mode only");
  call.out(0, call.dtype(0), call.dims(0));
  call.out(1, call.dtype(3), call.dims(3));
  call.out(2, call.dtype(4), call.dims(4));
}

// Statistics of one channel over the batch and the spatial dims.
template <class T>
ops::Moments channel_moments(const ops::RealIn<T>& x, const ops::AxisView& view, std::int64_t channel) {
  std::vector<double> values;
  for (std::int64_t n = 0; n < view.outer; ++n) {
    const T* line = x.data() + (n * view.extent + channel) * view.inner;
    values.insert(values.end(), line, line + view.inner);
  }
  return ops::moments(values.data(), static_cast<std::int64_t>(values.size()));
}

template <class T>
void run(Call& call) {
  const Attributes& attributes = call.attributes();
  const bool training = attributes.integer("training_mode") != 0;
  const double epsilon = attributes.number("epsilon"), momentum = attributes.number("momentum");
  const Shape shape = call.in[0].shape.size() >= 2 ? call.in[0].shape : Shape{call.in[0].shape[0], 1};  // a vector has one channel
  const ops::AxisView view(shape, 1);
  const ops::RealIn<T> x(call.in[0]), scale(call.in[1]), bias(call.in[2]), mean(call.in[3]), variance(call.in[4]);
  const ops::RealOut<T> y(call.out[0]);
  for (std::int64_t c = 0; c < view.extent; ++c) {
    ops::Moments m{static_cast<double>(mean[c]), static_cast<double>(variance[c])};
    if (training) {
      const ops::Moments own = channel_moments(x, view, c);
      if (call.out.size() > 1) store_double(call.out[1].dtype, call.out[1].data, c, m.mean * momentum + own.mean * (1 - momentum));
      if (call.out.size() > 2) store_double(call.out[2].dtype, call.out[2].data, c, m.variance * momentum + own.variance * (1 - momentum));
      m = own;
    }
    const double factor = static_cast<double>(scale[c]) / std::sqrt(m.variance + epsilon);
    for (std::int64_t n = 0; n < view.outer; ++n) {
      const std::int64_t at = (n * view.extent + c) * view.inner;
      for (std::int64_t i = at; i < at + view.inner; ++i) {
        y[i] = static_cast<T>((static_cast<double>(x[i]) - m.mean) * factor + static_cast<double>(bias[c]));
      }
    }
  }
}

void reference(Call& call) {
  ops::with_real(call.in[0].dtype, [&]<class T>(T) { run<T>(call); });
}

}  // namespace

OpDef op_batch_normalization() {
  return {.name = "BatchNormalization",
          .min_inputs = 5,
          .max_inputs = 5,
          .max_outputs = 3,
          .types = "T, S, S, V, V -> T, V, V; T: float; S: float; V: float",
          .attributes = {{"epsilon", 1e-5f}, {"momentum", 0.9f}, {"training_mode", 0}},
          .infer = infer,
          .reference = reference,
          .cases = {"f32[2,5,6,7] f32[5] f32[5] f32[5] f32[5](0.5,2)", "f32[3,17] f32[17]! f32[17]! f32[17]! f32[17](0.5,2)! epsilon=0.01",
                    "f32[1,4,3,4,5] f32[4] f32[4] f32[4] f32[4](0.5,2)",
                    "f32[4,3,5] f32[3] f32[3] f32[3] f32[3](0.5,2) training_mode=1 outputs=3"}};
}

}  // namespace tenfold::ir
