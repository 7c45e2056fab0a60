// LayerNormalization: zero mean and unit variance over the dims from `axis` on, then scale and bias.
#include "ops/norm/norm_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const int axis = call.axis(call.attributes().integer("axis"), call.rank(0));
  const Dims tail(call.dims(0).begin() + axis, call.dims(0).end());
  for (int i = 1; i < 3; ++i)
    if (call.has(i)) ops::expect_broadcast(call.dims(i), tail);
  call.out(0, call.dtype(0), call.dims(0));
  const DType statistics = call.dtype(0) == DType::f64 ? DType::f64 : DType::f32;
  call.out(1, statistics, ops::statistics_dims(call, axis));
  call.out(2, statistics, ops::statistics_dims(call, axis));
}

template <class T>
void run(Call& call) {
  const Shape& shape = call.in[0].shape;
  const std::int64_t axis = ops::wrap_axis(call.attributes().integer("axis"), static_cast<int>(shape.size()));
  const ops::AxisView view(shape, axis, static_cast<std::int64_t>(shape.size()));
  const Shape tail(shape.begin() + axis, shape.end());
  const double epsilon = call.attributes().number("epsilon");
  const bool biased = call.has(2);
  const ops::RealIn<T> x(call.in[0]), scale(call.in[1]), bias(biased ? call.in[2] : TensorRef{});
  const ops::Broadcast scale_at(call.in[1].shape, tail), bias_at(biased ? call.in[2].shape : Shape{}, tail);
  const ops::RealOut<T> y(call.out[0]);
  for (std::int64_t o = 0; o < view.outer; ++o) {
    const T* row = x.data() + o * view.extent;
    const ops::Moments m = ops::moments(row, view.extent);
    const double inverse = 1 / std::sqrt(m.variance + epsilon);
    for (std::int64_t i = 0; i < view.extent; ++i) {
      const double shifted = biased ? static_cast<double>(bias[bias_at(i)]) : 0.0;
      y[o * view.extent + i] =
          static_cast<T>((static_cast<double>(row[i]) - m.mean) * inverse * static_cast<double>(scale[scale_at(i)]) + shifted);
    }
    if (call.out.size() > 1) store_double(call.out[1].dtype, call.out[1].data, o, m.mean);
    if (call.out.size() > 2) store_double(call.out[2].dtype, call.out[2].data, o, inverse);
  }
}

void reference(Call& call) {
  ops::with_real(call.in[0].dtype, [&]<class T>(T) { run<T>(call); });
}

}  // namespace

OpDef op_layer_normalization() {
  return {.name = "LayerNormalization",
          .min_inputs = 2,
          .max_inputs = 3,
          .max_outputs = 3,
          .types = "T, float, float -> T, f32|f64, f32|f64; T: float",
          .attributes = {{"axis", -1}, {"epsilon", 1e-5f}, {"stash_type", 1}},
          .infer = infer,
          .reference = reference,
          .traits = {.anchor = true, .narrows = true},
          .cases = {"f32[2,8,64] f32[64] f32[64]", "f32[2,3,4,5] f32[3,4,5] f32[3,4,5] axis=1 outputs=3",
                    "f32[3,384] f32[384]! epsilon=0.01", "f32[2,6,5] f32[6,1] f32[5] axis=1", "f16[4,33] f16[33] f16[33]"}};
}

}  // namespace tenfold::ir
