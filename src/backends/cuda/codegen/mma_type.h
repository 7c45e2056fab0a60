// PTX's names of element types.
#pragma once

#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

// "f16", "e4m3", "u8"; of f32 "tf32".
const char* mma_type(DType dtype);

}  // namespace tenfold::backends::cuda
