// Weights with a scale for each output channel, in other types than i8 (quant/weights.h).
#pragma once

#include "quant/weights.h"

namespace tenfold::quant {

// In both the slices lie along `axis`, and one of zeros (or denormals) has scale 1. `weights`: f32, dense, finite.
QuantisedWeights e4m3_weights(const Tensor& weights, int axis);         // the largest element becomes 448, the largest of e4m3
QuantisedWeights seven_bit_weights(const Tensor& weights, int axis);    // i8 within [-64, 63], with scales of the least squared error

}  // namespace tenfold::quant
