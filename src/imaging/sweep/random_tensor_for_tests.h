// Images and weights of tests.
#pragma once

#include <random>

#include "tenfold/tensor.h"

namespace tenfold {

// f32 in [-1, 1].
inline Tensor random_tensor(Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor tensor(DType::f32, std::move(shape));
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    tensor.mutable_data<float>()[i] = static_cast<float>(random() % 2001) / 1000 - 1;
  return tensor;
}

}  // namespace tenfold
