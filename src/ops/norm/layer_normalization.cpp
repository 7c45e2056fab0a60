// LayerNormalization: zero mean and unit variance over the dims from `axis` on, then scale and bias.
#include "ops/norm/norm_common.h"

namespace tenfold::ir {
namespace {

// Throws unless a parameter of these dims has one element for each of `wanted`, as far as is known.
void expect_broadcast(const Dims& parameter, const Dims& wanted) {
  std::size_t lead = 0;   // dims of 1 in front mean nothing
  while (parameter.size() - lead > wanted.size() && parameter[lead] == Dim(1)) ++lead;
  bool fits = parameter.size() - lead <= wanted.size();
  for (std::size_t back = 1; fits && back <= parameter.size() - lead; ++back) {
    const Dim own = parameter[parameter.size() - back], asked = wanted[wanted.size() - back];
    fits = own == Dim(1) || own == asked || !own.is_constant() || !asked.is_constant();
  }
  require(fits, ErrorKind::invalid_model, "a parameter of shape [", text(parameter), "] does not broadcast to [", text(wanted), "]");
}

void infer(InferCall& call) {
  require_sound(is_float(call.dtype(0)), "it normalises floats, not ", name(call.dtype(0)));
  const int axis = call.axis(call.attributes().integer("axis"), call.rank(0));
  const Dims tail(call.dims(0).begin() + axis, call.dims(0).end());
  for (int i = 1; i < 3; ++i)
    if (call.has(i)) expect_broadcast(call.dims(i), tail);
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

// Parameters that differ along dims in front of `axis`, which broadcast to the whole of X: a product and a sum behind the normalisation.
std::vector<Value*> from_onnx(OnnxImport& call) {
  check_attributes(call.graph().registry().get("LayerNormalization"), call.attributes);
  const Value* x = call.need(0);
  const int rank = x->type.ranked ? x->rank() : 0;
  const std::int64_t axis = call.attributes.integer("axis", -1), tail = axis < 0 ? -axis : rank - axis;
  const auto wide = [&](Value* v) {
    if (!v || !v->type.ranked) return false;
    for (int d = 0; d < v->rank() - tail; ++d)
      if (v->dims()[static_cast<std::size_t>(d)] != Dim(1)) return true;
    return false;
  };
  if (rank == 0 || (!wide(call.need(1)) && !wide(call.in(2))))
    return call.add("LayerNormalization", call.inputs, call.attributes, std::max(call.outputs(), 1));
  for (int i = 1; i < 3; ++i)
    if (call.in(i)) expect_broadcast(call.in(i)->dims(), x->dims());
  std::vector<Value*> results =
      call.add("LayerNormalization", {call.need(0), call.scalar(x->dtype(), 1)}, call.attributes, std::max(call.outputs(), 1));
  results[0] = call.add("Mul", {results[0], call.need(1)}, {})[0];
  if (call.in(2)) results[0] = call.add("Add", {results[0], call.in(2)}, {})[0];
  return results;
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
          .attributes = {{"axis", -1}, {"epsilon", 1e-5f}, {"stash_type", 1}},
          .infer = infer,
          .reference = reference,
          .from_onnx = {{"LayerNormalization", 1, from_onnx}},
          .cases = {"f32[2,8,64] f32[64] f32[64]", "f32[2,3,4,5] f32[3,4,5] f32[3,4,5] axis=1 outputs=3",
                    "f32[3,384] f32[384]! epsilon=0.01", "f32[2,6,5] f32[6,1] f32[5] axis=1", "f16[4,33] f16[33] f16[33]"}};
}

}  // namespace tenfold::ir
