// Weights in 8 bits: symmetric, a scale for each output channel.
#pragma once

#include "tenfold/tensor.h"

namespace tenfold::quant {

struct QuantisedWeights {
  Tensor values;   // i8, in the weights' shape, within [-127, 127]
  Tensor scales;   // f32[channels]
};

// The scale of each slice along `axis` has the least squared error of all that clip up to a half of the slice's range. A slice of zeros (or
// denormals) has scale 1. `weights`: f32, dense, finite.
QuantisedWeights quantise_weights(const Tensor& weights, int axis);

}  // namespace tenfold::quant
