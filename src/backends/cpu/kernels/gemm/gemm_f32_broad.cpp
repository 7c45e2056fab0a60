// f32 products by tiles of three vectors' width: with two FMA ports fewer loads for each FMA leave power for a higher clock.
#ifdef TENFOLD_ISA_avx512
#define TENFOLD_PANEL_VECTORS 3
#include "backends/cpu/kernels/gemm/gemm_f32_tiles.h"

namespace tenfold::backends::cpu {

extern "C" const GemmF32Kernels TENFOLD_TABLE(gemm_f32_broad) = kTiles;

}  // namespace tenfold::backends::cpu
#endif
