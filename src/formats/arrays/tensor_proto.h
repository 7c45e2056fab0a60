// ONNX's test data (.pb): one tensor as a serialized TensorProto.
#pragma once

#include <string>
#include <string_view>

#include "tenfold/tensor.h"

namespace tenfold::formats {

// Throws Error(io), beginning with `what`, for what is no tensor, or one whose data lie in another file.
Tensor parse_tensor_proto(std::string_view bytes, const std::string& what);

}  // namespace tenfold::formats
