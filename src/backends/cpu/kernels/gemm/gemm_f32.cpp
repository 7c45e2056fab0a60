// f32 products by tiles of two vectors' width: many rows, which suits narrow results.
#include "backends/cpu/kernels/gemm/gemm_f32_tiles.h"

namespace tenfold::backends::cpu {

extern "C" const GemmF32Kernels TENFOLD_TABLE(gemm_f32) = kTiles;

}  // namespace tenfold::backends::cpu
