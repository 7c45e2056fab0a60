// RMSNormalization: divides by the root of the mean square over the dims from `axis` on, then scales.
#include "ops/norm/norm_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.axis(call.attributes().integer("axis"), call.rank(0));
  broadcast(call.dims(1), call.dims(0));  // throws if they cannot meet
  call.out(0, call.dtype(0), call.dims(0));
}

template <class T>
void run(Call& call) {
  const Shape& shape = call.in[0].shape;
  const std::int64_t axis = ops::wrap_axis(call.attributes().integer("axis"), static_cast<int>(shape.size()));
  const ops::AxisView view(shape, axis, static_cast<std::int64_t>(shape.size()));
  const ops::Broadcast scale_at(call.in[1].shape, Shape(shape.begin() + axis, shape.end()));
  const double epsilon = call.attributes().number("epsilon");
  const ops::RealIn<T> x(call.in[0]), scale(call.in[1]);
  const ops::RealOut<T> y(call.out[0]);
  for (std::int64_t o = 0; o < view.outer; ++o) {
    const T* row = x.data() + o * view.extent;
    double squares = 0;
    for (std::int64_t i = 0; i < view.extent; ++i) squares += static_cast<double>(row[i]) * static_cast<double>(row[i]);
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(view.extent) + epsilon);
    for (std::int64_t i = 0; i < view.extent; ++i) {
      y[o * view.extent + i] = static_cast<T>(static_cast<double>(row[i]) * inverse * static_cast<double>(scale[scale_at(i)]));
    }
  }
}

void reference(Call& call) {
  ops::with_real(call.in[0].dtype, [&]<class T>(T) { run<T>(call); });
}

}  // namespace

OpDef op_rms_normalization() {
  return {.name = "RMSNormalization",
          .min_inputs = 2,
          .max_inputs = 2,
          .types = "T, float -> T; T: float",
          .attributes = {{"axis", -1}, {"epsilon", 1e-5f}, {"stash_type", 1}},
          .infer = infer,
          .reference = reference,
          .traits = {.narrows = true},
          .onnx_since = 23,
          .cases = {"f32[2,8,64] f32[64]", "f32[2,3,4,5] f32[4,5] axis=2", "f32[3,384] f32[384]! epsilon=0.01", "f16[4,33] f16[33]"}};
}

}  // namespace tenfold::ir
