// ONNX test data: one serialised TensorProto (.pb), read without protobuf.
#pragma once

#include <string>
#include <string_view>

#include "tenfold/tensor.h"

namespace tenfold::cli {

Tensor parse_tensor_proto(std::string_view bytes, const std::string& what);  // throws Error(io)

}  // namespace tenfold::cli
