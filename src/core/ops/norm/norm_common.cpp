// Shapes and conversions of the normalizations.
#include "ops/norm/norm_common.h"

namespace tenfold::ops {

using ir::Dim;
using ir::Dims;

void normalize_groups(ir::Call& call, std::int64_t groups) {
  if (groups == 0) return;   // as many as channels, and there are none
  const double epsilon = call.attributes().number("epsilon");
  const std::int64_t per_group = call.in[0].shape[1] / groups;
  const std::int64_t lines = call.in[0].shape[0] * groups, size = lines ? call.in[0].size() / lines : 0;
  with_real(call.in[0].dtype, [&]<class T>(T) {
    const RealIn<T> x(call.in[0]), scale(call.in[1]), bias(call.in[2]);
    const RealOut<T> y(call.out[0]);
    for (std::int64_t line = 0; line < lines; ++line) {
      const Moments m = moments(x.data() + line * size, size);
      const double inverse = 1 / std::sqrt(m.variance + epsilon);
      for (std::int64_t i = 0; i < size; ++i) {
        const std::int64_t channel = line % groups * per_group + i / (size / per_group);
        const double normal = (static_cast<double>(x[line * size + i]) - m.mean) * inverse;
        y[line * size + i] = static_cast<T>(normal * static_cast<double>(scale[channel]) + static_cast<double>(bias[channel]));
      }
    }
  });
}

void infer_along_axis(ir::InferCall& call) {
  call.axis(call.attributes().integer("axis"), call.rank(0));
  call.out(0, call.dtype(0), call.dims(0));
}

void need_per_channel(ir::InferCall& call, int i, const char* what) {
  const Dims& dims = call.dims(i);
  call.check_shape(dims.size() == 1, what, " has rank ", dims.size(), ", expected 1");
  const Dim channels = call.dims(0)[1];
  call.check_shape(!dims[0].is_constant() || !channels.is_constant() || dims[0] == channels, what, " has ", dims[0].text(), " values for ",
            channels.text(), " channels");
}

void expect_broadcast(const Dims& parameter, const Dims& requested) {
  std::size_t lead = 0;   // dims of 1 in front mean nothing
  while (parameter.size() - lead > requested.size() && parameter[lead] == Dim(1)) ++lead;
  bool fits = parameter.size() - lead <= requested.size();
  for (std::size_t back = 1; fits && back <= parameter.size() - lead; ++back) {
    const Dim own = parameter[parameter.size() - back], required = requested[requested.size() - back];
    fits = own == Dim(1) || own == required || !own.is_constant() || !required.is_constant();
  }
  ir::check_shape(fits, "a parameter of shape [", ir::text(parameter), "] does not broadcast to [", ir::text(requested), "]");
}

Dims statistics_dims(ir::InferCall& call, int axis) {
  Dims dims = call.dims(0);
  std::fill(dims.begin() + axis, dims.end(), Dim(1));
  return dims;
}

Broadcast::Broadcast(const Shape& parameter, const Shape& tail) {
  Shape own = parameter;
  while (own.size() > tail.size() && own.front() == 1) own.erase(own.begin());
  ir::check_shape(own.size() <= tail.size(), "a parameter of shape ", text(parameter), " does not broadcast to ", text(tail));
  const std::size_t lead = tail.size() - own.size();
  for (std::size_t i = 0; i < own.size(); ++i) {
    ir::check_shape(own[i] == 1 || own[i] == tail[lead + i], "a parameter of shape ", text(parameter), " does not broadcast to ",
                    text(tail));
  }
  size_ = element_count(own);
  dense_ = std::equal(own.begin(), own.end(), tail.end() - static_cast<std::ptrdiff_t>(own.size())) && size_ > 0;
  if (dense_) return;
  index_.resize(static_cast<std::size_t>(element_count(tail)));
  for (std::size_t i = 0; i < index_.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), stride = 1;
    for (std::size_t back = 1; back <= own.size(); ++back) {
      const std::int64_t extent = tail[tail.size() - back], own_extent = own[own.size() - back];
      index_[i] += own_extent == 1 ? 0 : rest % extent * stride;
      stride *= own_extent;
      rest /= extent;
    }
  }
}

}  // namespace tenfold::ops
