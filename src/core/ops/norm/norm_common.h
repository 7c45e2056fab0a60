// What the normalizations share: walks over lines and groups, statistics in double.
#pragma once

#include <cmath>

#include "ir/op_def.h"
#include "ops/real_access.h"

namespace tenfold::ops {

// One line along an axis: element i lies at data[i * stride].
template <class T>
struct Line {
  T* data;
  std::int64_t size, stride;
  T& operator[](std::int64_t i) const { return data[i * stride]; }
};

// f(Line<const T> in, Line<T> out) for each line of input 0 along `axis`, output 0 having its shape.
template <class F>
void for_each_line(ir::Call& call, std::int64_t axis, F&& f) {
  const AxisView view(call.in[0].shape, wrap_axis(axis, static_cast<int>(call.in[0].shape.size())));
  if (view.extent == 0) return;   // lines of nothing, of memory that may be null
  with_real(call.in[0].dtype, [&]<class T>(T) {
    const RealIn<T> x(call.in[0]);
    const RealOut<T> y(call.out[0]);
    for (std::int64_t o = 0; o < view.outer; ++o) {
      for (std::int64_t i = 0; i < view.inner; ++i) {
        const std::int64_t at = o * view.extent * view.inner + i;
        f(Line<const T>{x.data() + at, view.extent, view.inner}, Line<T>{y.data() + at, view.extent, view.inner});
      }
    }
  });
}

struct Moments {
  double mean = 0, variance = 0;
};
template <class T>
Moments moments(const T* x, std::int64_t count) {
  Moments m;
  for (std::int64_t i = 0; i < count; ++i) m.mean += static_cast<double>(x[i]);
  m.mean /= static_cast<double>(count);
  for (std::int64_t i = 0; i < count; ++i) m.variance += (static_cast<double>(x[i]) - m.mean) * (static_cast<double>(x[i]) - m.mean);
  m.variance /= static_cast<double>(count);
  return m;
}

// Zero mean and unit variance for each group of channels (dim 1), then scale (input 1) and bias (input 2) of each channel.
void normalize_groups(ir::Call& call, std::int64_t groups);

// Infers "same type and shape as input 0", with an axis that has to exist.
void infer_along_axis(ir::InferCall& call);

// Throws invalid_model unless operand i has one value for each channel (dim 1) of input 0.
void need_per_channel(ir::InferCall& call, int i, const char* what);

// Throws invalid_model unless a parameter of these dims has one element for each of `wanted`, as far as is known.
void expect_broadcast(const ir::Dims& parameter, const ir::Dims& requested);

// Result shape of mean and inverse deviation of a layer normalization: input 0 with the dims from `axis` on set to 1.
ir::Dims statistics_dims(ir::InferCall& call, int axis);

// Index of the parameter that belongs to element i of the normalized dims `tail`, for a parameter that broadcasts to them.
class Broadcast {
 public:
  Broadcast(const Shape& parameter, const Shape& tail);
  std::int64_t operator()(std::int64_t i) const { return dense_ ? i % size_ : index_[static_cast<std::size_t>(i)]; }

 private:
  bool dense_ = false;
  std::int64_t size_ = 1;
  std::vector<std::int64_t> index_;
};

}  // namespace tenfold::ops
