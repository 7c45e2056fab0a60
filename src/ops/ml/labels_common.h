// Class labels of ai.onnx.ml: integers, or strings.
#pragma once

#include "ir/op_def.h"

namespace tenfold::ops {

// The list that the attributes hold, as a tensor of rank 1: strings, or i64. Throws a fault unless there is exactly one.
Tensor class_labels(const ir::Attributes& attributes, const std::string& integers, const std::string& strings);
Tensor picked(const Tensor& list, const std::vector<std::int64_t>& indices);   // of rank 1

}  // namespace tenfold::ops
