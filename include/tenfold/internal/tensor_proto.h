// Tensors of ONNX's test data (.pb).
#pragma once

#include <span>

#include "tenfold/export.h"
#include "tenfold/tensor.h"

namespace tenfold {

// The tensor of one serialized TensorProto. Data in another file are refused. Throws invalid_model and unsupported.
TENFOLD_API Tensor read_tensor_proto(std::span<const std::byte> bytes);

}  // namespace tenfold
