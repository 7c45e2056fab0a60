// Helpers of the tests in this folder: tensors from literals, and a network built and run on them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "base/types/element.h"
#include "tenfold/build.h"
#include "tenfold/network.h"

namespace tenfold {

inline Tensor numbers(DType dtype, Shape shape, const std::vector<double>& values) {
  Tensor t(dtype, std::move(shape));
  EXPECT_EQ(t.size(), static_cast<std::int64_t>(values.size()));
  for (std::int64_t i = 0; i < t.size(); ++i) {
    const double v = values[static_cast<std::size_t>(i)];
    if (is_float(dtype))
      store_double(dtype, t.mutable_raw(), i, v);
    else
      store_int(dtype, t.mutable_raw(), i, static_cast<std::int64_t>(v));
  }
  return t;
}
inline Tensor floats(Shape shape, const std::vector<double>& values) { return numbers(DType::f32, std::move(shape), values); }

// 0, 1, 2, ... times `step`.
inline Tensor counting(Shape shape, double step = 1) {
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) * step;
  return floats(std::move(shape), values);
}

inline void expect_values(const Tensor& got, const Shape& shape, const std::vector<double>& expected, double tolerance = 1e-5) {
  ASSERT_EQ(got.shape(), shape);
  ASSERT_EQ(got.size(), static_cast<std::int64_t>(expected.size()));
  for (std::int64_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got.as_double(i), expected[static_cast<std::size_t>(i)], tolerance * (1 + std::abs(expected[static_cast<std::size_t>(i)])))
        << "element " << i;
}

inline std::vector<Tensor> build_and_run(const Network& net, const std::vector<Tensor>& inputs, BuildConfig config = {}) {
  config.optimization_level = 0;  // what is chosen does not matter here
  return build(net, config).create_context()->run(inputs);
}

// A network of one input `x` and the layers that `make` adds, run on `x`.
template <class Make>
Tensor run_layer(const Tensor& x, Make make) {
  Network net;
  std::vector<NetworkDim> dims;
  for (std::int64_t d : x.shape()) dims.emplace_back(d);
  net.mark_output(make(net, net.input("x", x.dtype(), dims)), "y");
  return build_and_run(net, {x})[0];
}

}  // namespace tenfold
