// Floats of a linear layer as compressed-tensors' pack-quantized has them: compressed_tensors.cpp reads it.
#pragma once

#include "text/transformers/narrow/narrow_weights.h"

namespace tenfold::transformers {

struct PackedSteps {
  Tensor words, scales, shape;   // `weight_packed`, `weight_scale` in the floats' type, `weight_shape`
  double error = 0;              // relative, of all weights
};

// Of [out, in], rounded to the nearest step of a group, symmetric about zero. Groups divide the inputs. Throws invalid_model for values
// that are no finite numbers.
PackedSteps pack_steps(const Tensor& floats, const NarrowForm& form);

}  // namespace tenfold::transformers
