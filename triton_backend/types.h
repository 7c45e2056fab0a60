// Element types: Triton's numbers, and the names that configurations have ("TYPE_FP32").
#pragma once

#include <optional>
#include <string_view>

#include "tenfold/tensor.h"
#include "triton_api.h"

namespace tenfold::triton {

std::optional<DType> dtype_of(TRITONSERVER_DataType type);
std::optional<DType> dtype_of(std::string_view configured);
TRITONSERVER_DataType triton_type(DType type);              // kTritonInvalid: Triton has none
std::string_view configured_name(DType type);               // empty: Triton has none

}  // namespace tenfold::triton
