// Weights with a scale for each output channel.
#pragma once

#include "tenfold/tensor.h"

namespace tenfold::quant {

// What each weight becomes.
enum class WeightForm {
  bytes,       // i8 within [-127, 127]
  seven_bits,  // i8 within [-64, 63]: two products of them and bytes of data fit in 16 bits
  e4m3,
};

struct QuantizedWeights {
  Tensor values;  // in the weights' shape
  Tensor scales;  // f32[channels]
};

// The slices lie along `axis`. Scales of integers have the least squared error of all that clip up to a half of the slice's range; of e4m3
// the largest element becomes 448, the largest of the type. A slice of zeros (or denormals) has scale 1. `weights`: f32, dense, finite.
QuantizedWeights quantize_weights(const Tensor& weights, int axis, WeightForm form = WeightForm::bytes);

// The integers of a form.
struct Levels {
  int min = -127, max = 127;
};
Levels levels_of(WeightForm form);

}  // namespace tenfold::quant
