// Finds NaN and infinity in weights at memory speed.
#pragma once

#include <vector>

#include "tenfold/tensor.h"

namespace tenfold::ir {

// True if no element is NaN or infinite; true for types that have neither.
bool all_finite(const Tensor& tensor);
// Whether minus infinity is the one value in it that is not finite: what masks are made of.
bool is_mask(const Tensor& tensor);
// all_finite() of each, on several threads where there is much to read.
std::vector<bool> all_finite(const std::vector<Tensor>& tensors);

}  // namespace tenfold::ir
