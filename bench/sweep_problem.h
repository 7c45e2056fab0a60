// Random products and convolutions for the sweep against oneDNN: problem i of a kind is the same on every machine.
#pragma once

#include <string>

#include "tenfold/tensor.h"

namespace sweep {

using tenfold::Shape;

enum class Kind { product, convolution };
enum class After { nothing, relu, gelu };

// A product's x is [batch, rows, k] or [rows, k], its weight [k, n], or [n, k] if it is transposed first.
// A convolution's x is [n, spatial..., channels], its weight as in ONNX; the result is channels-last, too.
struct Problem {
  Kind kind = Kind::product;
  Shape x, w, y;
  Shape strides, pads, dilations;  // a convolution's; pads alike on both sides
  std::int64_t groups = 1;
  bool transposed = false, bias = false;
  After after = After::nothing;

  double flops() const;
  std::string text() const;
};

Problem draw(Kind kind, int index);

// Values in (-1, 1), the same for the same seed.
tenfold::Tensor random_values(const Shape& shape, std::uint64_t seed);

}  // namespace sweep
