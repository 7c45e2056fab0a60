// Finds NaN and infinity in weights at memory speed.
#pragma once

#include "tenfold/tensor.h"

namespace tenfold::onnx_import {

// True if no element is NaN or infinite; true for types that have neither.
bool all_finite(const Tensor& tensor);

}  // namespace tenfold::onnx_import
