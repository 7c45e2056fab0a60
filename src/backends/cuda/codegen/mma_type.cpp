// Naming element types in PTX.
#include "backends/cuda/codegen/mma_type.h"

namespace tenfold::backends::cuda {

const char* mma_type(DType dtype) {
  switch (dtype) {
    case DType::bf16: return "bf16";
    case DType::f8e4m3fn: return "e4m3";
    case DType::i8: return "s8";
    case DType::u8: return "u8";
    case DType::f32: return "tf32";
    default: return "f16";
  }
}

}  // namespace tenfold::backends::cuda
