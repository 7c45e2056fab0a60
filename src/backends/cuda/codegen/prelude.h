// How element types are written in CUDA C.
#pragma once

#include <string>
#include <string_view>

#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

bool has_c_type(DType dtype);                                  // f32 f64 f16 bf16 f8e4m3fn, integers of 8 to 64 bits, booleans
std::string_view storage_type(DType dtype);                    // as it lies in memory: "unsigned short" for f16
std::string_view compute_type(DType dtype);                    // as it is computed with: "float" for f16
std::string loaded(DType dtype, const std::string& stored);    // an expression: memory form to computing form
std::string stored(DType dtype, const std::string& computed);  // and back, rounded to nearest even

}  // namespace tenfold::backends::cuda
