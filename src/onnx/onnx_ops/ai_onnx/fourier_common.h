// Fourier transforms as sums of products: their matrices.
#pragma once

#include <cmath>
#include <vector>

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {

// At most this many numbers: 4096 real samples to the half of the bins that says it all. Beyond, a fast transform would be needed.
inline constexpr std::int64_t kMaxFourier = 4096 * 2049 * 2;

// An axis or a length that an attribute or a constant operand gives.
inline std::int64_t constant_integer(OnnxImport& call, int i, const char* what, std::int64_t otherwise) {
  if (!call.in(i)) return otherwise;
  const Tensor& t = call.constant(i, what);
  validate(is_integer(t.dtype()), what, " is ", name(t.dtype()), ", an integer expected");
  check_shape(t.size() == 1, what, " has ", t.size(), " elements, one expected");
  return t.as_int(0);
}

// `length` places around the circle, worked out once and exact before they are rounded; `along` visits every step-th of them.
class Circle {
 public:
  explicit Circle(std::int64_t length) : cosines_(static_cast<std::size_t>(length)), sines_(cosines_.size()) {
    for (std::size_t n = 0; n < cosines_.size(); ++n) {
      const double angle = 2 * M_PI * static_cast<double>(n) / static_cast<double>(length);
      cosines_[n] = std::cos(angle), sines_[n] = std::sin(angle);
    }
  }
  // f(cosine, sine) of `count` places from the first on; step is less than the length.
  template <class F>
  void along(std::int64_t step, std::int64_t count, F&& f) const {
    const double *cosines = cosines_.data(), *sines = sines_.data();
    const auto length = static_cast<std::int64_t>(cosines_.size());
    for (std::int64_t n = 0, at = 0; n < count; ++n) {
      f(cosines[at], sines[at]);
      at += step;
      if (at >= length) at -= length;
    }
  }

 private:
  std::vector<double> cosines_, sines_;
};

}  // namespace tenfold::onnx_ops
