// The numbers that ONNX gives to element types in attributes such as Cast's `to`. In the graph such attributes hold our names.
#pragma once

#include <cstdint>

#include "tenfold/tensor.h"

namespace tenfold::ops {

DType dtype_from_onnx(std::int64_t number);   // throws invalid_model, or unsupported for types that Tenfold lacks
std::int64_t onnx_number(DType type);

}  // namespace tenfold::ops
