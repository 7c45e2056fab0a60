// Inputs and outputs whose shapes in requests are not the model's: the configuration's `reshape`, and tensors of rank 0, which
// configurations do not have.
#pragma once

#include <span>

#include "tenfold/tensor.h"

namespace tenfold::server {

// Both without the batch dim. As many extents are open (-1) in one as in the other, and they stand for each other in their order.
struct Reshape {
  Shape dims, model;
};
// The shape, which fits `from`, as `to` has it. `batched`: both have the batch dim in front.
Shape reshaped(std::span<const std::int64_t> shape, const Shape& from, const Shape& to, bool batched);

}  // namespace tenfold::server
